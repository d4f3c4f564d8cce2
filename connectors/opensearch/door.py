"""The only door to opensearch-py: one request out, one reply in, nothing decided.

The package makes the connection (address, TLS, certificates, pool). Its own loop is not used: it
repeats three times at once, without a pause, and reads a body of any size. Here a body is read in
pieces up to a limit, redirects are answers like any other, and proxies named in the environment
are not used, so that a login never goes anywhere but to the configured address.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from time import monotonic
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from opensearchpy import Urllib3HttpConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ReadTimeoutError,
    SSLError,
)

from connectors.opensearch.replies import Ask, NoReply, Reply
from connectors.opensearch.signature import signed_headers
from connectors.opensearch.site import Signed, Site, headers_of

LARGEST_BODY = 8 << 20
PIECE = 64 << 10
POOL = 8


class Door:
    """The connections to one site; threads may share it. *now* dates signatures."""

    def __init__(self, site: Site, now: Callable[[], datetime]) -> None:
        self._site = site
        self._now = now
        self._base = urlsplit(site.url)
        self._pool: Any = _connection(site).pool  # the package declares no types here

    def send(self, ask: Ask) -> Reply:
        """The reply, whatever its status. Raises NoReply when none came whole."""
        query = urlencode(sorted(ask.params.items()), quote_via=quote)
        path = f"{self._base.path.rstrip('/')}/{quote(ask.path, safe='/*,:._-')}"
        target = f"{path}?{query}" if query else path
        body = ask.encoded()
        patience = self._site.patience
        until = monotonic() + patience.answer_s
        try:
            response = self._pool.urlopen(
                ask.method,
                target,
                body=body or None,
                headers=self._headers(ask, target, body),
                retries=False,
                redirect=False,
                preload_content=False,
                timeout=urllib3.Timeout(connect=patience.connect_s, read=patience.answer_s),
            )
        except SSLError as error:
            raise NoReply(
                f"its certificate was not accepted ({_root(error)})", again=False
            ) from None
        except (ConnectTimeoutError, NewConnectionError) as error:
            why = (
                "no connection"
                if isinstance(error, NewConnectionError)
                else "no connection in time"
            )
            raise NoReply(f"{why} ({_root(error)})") from None
        except ReadTimeoutError:
            raise self._late() from None
        except (HTTPError, OSError) as error:
            raise NoReply(f"the connection failed ({_root(error)})") from None
        try:
            return Reply(
                response.status,
                {name.lower(): value for name, value in response.headers.items()},
                self._body(response, until),
            )
        except ReadTimeoutError:
            raise self._late() from None
        except (HTTPError, OSError) as error:
            raise NoReply(f"the answer broke off ({_root(error)})") from None
        finally:
            response.release_conn()

    def _headers(self, ask: Ask, target: str, body: bytes) -> Mapping[str, str]:
        kind = "application/x-ndjson" if isinstance(ask.body, list) else "application/json"
        login = self._site.login
        headers = {"accept": "application/json", "accept-encoding": "gzip", **headers_of(login)}
        if body:
            headers["content-type"] = kind
        if isinstance(login, Signed):
            url = f"{self._base.scheme}://{self._base.netloc}{target}"
            headers |= signed_headers(login, ask.method, url, body, self._now())
        return headers

    def _body(self, response: Any, until: float) -> bytes:
        body = bytearray()
        for piece in response.stream(PIECE, decode_content=True):
            body += piece
            if len(body) > LARGEST_BODY:
                response.close()
                raise NoReply(
                    f"the answer has over {LARGEST_BODY >> 20} MiB", again=False, too_large=True
                )
            if monotonic() > until:
                response.close()
                raise self._late()
        return bytes(body)

    def _late(self) -> NoReply:
        return NoReply(f"no whole answer within {self._site.patience.answer_s:g} s", timed_out=True)


def _connection(site: Site) -> Urllib3HttpConnection:
    parts = urlsplit(site.url)
    secure = parts.scheme == "https"
    files = {"ca_certs": site.ca_file, "client_cert": site.client_certificate,
             "client_key": site.client_key}  # fmt: skip
    given: dict[str, Any] = {name: str(path) for name, path in files.items() if path}
    return Urllib3HttpConnection(
        host=parts.hostname or "",
        port=parts.port or (443 if secure else 80),
        use_ssl=secure,
        pool_maxsize=POOL,
        **({"verify_certs": True, **given} if secure else {}),
    )


def _root(error: BaseException) -> str:
    """The innermost cause in few words: the texts of these errors hold addresses and objects."""
    while isinstance(inner := error.__cause__ or error.__context__, Exception):
        error = inner
    text = getattr(error, "verify_message", None) or getattr(error, "strerror", None)
    return str(text or type(error).__name__)
