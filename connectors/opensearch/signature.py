"""AWS Signature Version 4 for one request. Pure: the time is the caller's.

Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import parse_qsl, quote, urlsplit

from connectors.opensearch.site import Signed

ALGORITHM = "AWS4-HMAC-SHA256"
UNRESERVED = "-._~"


def signed_headers(
    login: Signed, method: str, url: str, body: bytes, now: datetime
) -> dict[str, str]:
    """The headers to send with the request, the signature among them."""
    parts = urlsplit(url)
    headers = {"host": parts.netloc, "x-amz-date": now.strftime("%Y%m%dT%H%M%SZ")}
    if login.session_token:
        headers["x-amz-security-token"] = login.session_token
    digest = hashlib.sha256(body).hexdigest()
    if login.service == "aoss":  # the serverless service wants the digest said; `es` takes both
        headers["x-amz-content-sha256"] = digest
    scope = f"{now:%Y%m%d}/{login.region}/{login.service}/aws4_request"
    request = canonical(method, parts.path, parts.query, headers, digest)
    signature = hmac.new(_key(login, f"{now:%Y%m%d}"), _to_sign(request, scope, headers), "sha256")
    credential = f"{login.key_id}/{scope}"
    headers["authorization"] = (
        f"{ALGORITHM} Credential={credential}, SignedHeaders={';'.join(sorted(headers))}, "
        f"Signature={signature.hexdigest()}"
    )
    return headers


def canonical(method: str, path: str, query: str, headers: Mapping[str, str], digest: str) -> str:
    """The request in the one form that both sides sign. *path* is as sent, already encoded."""
    pairs = sorted(
        (quote(name, safe=UNRESERVED), quote(value, safe=UNRESERVED))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    names = sorted(headers)
    return "\n".join(
        (
            method,
            quote(path or "/", safe="/" + UNRESERVED),
            "&".join(f"{name}={value}" for name, value in pairs),
            *(f"{name}:{' '.join(headers[name].split())}" for name in names),
            "",
            ";".join(names),
            digest,
        )
    )


def _to_sign(request: str, scope: str, headers: Mapping[str, str]) -> bytes:
    digest = hashlib.sha256(request.encode()).hexdigest()
    return "\n".join((ALGORITHM, headers["x-amz-date"], scope, digest)).encode()


def _key(login: Signed, day: str) -> bytes:
    key = f"AWS4{login.key}".encode()
    for part in (day, login.region, login.service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
