"""Each kind of login, from copilot.yaml to a real node behind a guard that lets nothing else in.

The node itself has no security: that is a plugin. The guard checks as AWS, Grafana or the plugin
would, from what arrives and the secret it knows, and passes on to the node what it lets in.
"""

import hashlib
import hmac
import json
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, unquote

import pytest

from connectors.logbook import Filters, Search
from connectors.opensearch import OpenSearchLogbook
from copilot.errors import ConnectorError, CredentialsError
from copilot.logbooks import site_of
from copilot.window import ALWAYS
from tests.certificates import make, server_side
from tests.connectors.contract.conftest import NAMES
from tests.connectors.opensearch.test_door import Answer, Handler, serving
from tests.connectors.opensearch.test_foreign import DATE, KEYWORD, TEXT, Server, minute
from tests.connectors.opensearch.test_settings import HEAD, said

Arrived = tuple[str, str, Mapping[str, str], bytes]
Check = Callable[[Arrived], bool]
PROXIED = "/api/datasources/proxy/uid/abc"
RIGHT = {
    "OPENSEARCH_PROD_PASSWORD": "päss word+1",
    "OPENSEARCH_PROD_TOKEN": "token-1",
    "OPENSEARCH_PROD_KEY_ID": "AKID",
    "OPENSEARCH_PROD_KEY": "key/1+",
    "OPENSEARCH_PROD_SESSION_TOKEN": "session-1",
}


def basic(arrived: Arrived) -> bool:
    return arrived[2].get("authorization") == "Basic Y29waWxvdDpww6RzcyB3b3JkKzE="


def bearer(arrived: Arrived) -> bool:
    return arrived[2].get("authorization") == "Bearer token-1"


def signed_for(service: str) -> Check:
    """Return the check of AWS for that service: the signature is made again from what arrived."""

    def check(arrived: Arrived) -> bool:
        method, target, headers, body = arrived
        kind, _, rest = headers.get("authorization", "").partition(" ")
        told = dict(part.split("=", 1) for part in rest.split(", "))
        names = told["SignedHeaders"].split(";")
        assert {"host", "x-amz-date", "x-amz-security-token"} <= set(names)
        key_id, _, scope = told["Credential"].partition("/")
        day, region, said_service, end = scope.split("/")
        path, _, query = target.partition("?")
        pairs = sorted(pair.partition("=")[::2] for pair in query.split("&") if pair)
        encoded = [f"{quote(unquote(k), safe='-._~')}={quote(unquote(v), safe='-._~')}" for k, v in pairs]  # fmt: skip
        digest = hashlib.sha256(body).hexdigest()
        if service == "aoss":
            assert headers["x-amz-content-sha256"] == digest
        lines = [method, quote(path, safe="/-._~"), "&".join(encoded)]
        lines += [f"{name}:{headers[name]}" for name in names]
        request = "\n".join([*lines, "", ";".join(names), digest])
        hashed = hashlib.sha256(request.encode()).hexdigest()
        key = ("AWS4" + RIGHT["OPENSEARCH_PROD_KEY"]).encode()
        for part in (day, region, said_service, end):
            key = hmac.new(key, part.encode(), "sha256").digest()
        text = "\n".join((kind, headers["x-amz-date"], scope, hashed))
        made = hmac.new(key, text.encode(), "sha256").hexdigest()
        told_by = (key_id, said_service, headers["x-amz-security-token"], told["Signature"])
        return told_by == ("AKID", service, "session-1", made)

    return check


def guarding(node: str, check: Check, *, grafana: bool = False) -> Answer:
    """Return a guard before *node*. That of a Grafana lets `_msearch` in and nothing else.

    It gives each document as a text of JSON, as some of its versions do.
    """

    def answer(handler: Handler) -> None:
        arrived = handler.seen[-1]
        if not check(arrived):
            handler.send(b'{"error": "Unauthorized", "status": 401}', 401)
        elif grafana and arrived[:2] != ("POST", f"{PROXIED}/_msearch"):
            handler.send(b'{"message": "non allow-listed request"}', 403)
        else:
            status, given = _passed_on(node, arrived)
            handler.send(_as_texts(given) if grafana else given, status)

    return answer


def _passed_on(node: str, arrived: Arrived) -> tuple[int, bytes]:
    method, target, headers, body = arrived
    ask = urllib.request.Request(
        node + target.removeprefix(PROXIED), body or None,
        {"content-type": headers.get("content-type", "application/json")}, method=method,
    )  # fmt: skip
    try:
        with urllib.request.urlopen(ask, timeout=30) as reply:
            return reply.status, reply.read()
    except HTTPError as error:
        return error.code, error.read()


def _as_texts(body: bytes) -> bytes:
    document = json.loads(body)
    for part in document["responses"]:
        for hit in part.get("hits", {}).get("hits", ()):
            hit["_source"] = json.dumps(hit["_source"])
    return json.dumps(document).encode()


KINDS: dict[str, tuple[Check, str]] = {
    "basic": (basic, "  auth: basic\n  user: copilot\n"),
    "bearer": (bearer, "  auth: bearer\n"),
    "sigv4": (signed_for("es"), "  auth: sigv4\n  region: eu-west-1\n"),
    "serverless": (signed_for("aoss"), "  auth: sigv4\n  region: eu-west-1\n  service: aoss\n"),
    "grafana": (
        bearer,
        """  auth: bearer
  proxy: grafana
  fields: {time: '@timestamp', message: message, level: level, keywords: [pod]}
""",
    ),
}


@contextmanager
def guarded(
    node: str, kind: str, folder: Path, secrets: Mapping[str, str]
) -> Iterator[tuple[OpenSearchLogbook, list[Any]]]:
    """Give a logbook behind the guard of that kind, as copilot.yaml tells of it."""
    check, more = KINDS[kind]
    index = f"guarded-{next(NAMES)}-a"
    mapping = {"@timestamp": DATE, "message": TEXT, "level": KEYWORD, "pod": KEYWORD}
    Server(node, "").index(
        index,
        mapping,
        *(
            {"@timestamp": minute(n), "message": f"step {n}", "level": "error", "pod": "é web"}
            for n in range(9)
        ),
    )
    with serving(guarding(node, check, grafana=kind == "grafana")) as (url, seen):
        below = PROXIED if kind == "grafana" else ""
        text = HEAD + f"  url: {url}{below}\n  indices: [{index}, {index}*]\n" + more
        yield OpenSearchLogbook(site_of(said(folder, text), secrets), name="prod"), seen


@pytest.mark.parametrize("kind", KINDS)
def test_a_login_opens_every_question(opensearch: str, tmp_path: Path, kind: str) -> None:
    with guarded(opensearch, kind, tmp_path, RIGHT) as (book, _):
        found = book.search(Search(Filters(fields={"pod": "é web"}), limit=5))
        seen = book.overview(ALWAYS, Filters(), None)
        [pattern] = book.patterns(ALWAYS, None, Filters()).rose

    assert [entry.message for entry in found.entries] == [f"step {n}" for n in (8, 7, 6, 5, 4)]
    assert found.entries[0].fields["pod"] == "é web"
    assert dict(seen.levels) == {"ERROR": 9}
    assert (pattern.template, pattern.count) == ("step <n>", 9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_secret_is_said_once_and_nothing_is_read(
    opensearch: str, tmp_path: Path, kind: str
) -> None:
    wrong = {name: f"{value}x" for name, value in RIGHT.items()}
    with (
        guarded(opensearch, kind, tmp_path, wrong) as (book, seen),
        pytest.raises(CredentialsError, match="does not accept the login") as caught,
    ):
        book.search(Search())

    assert len(seen) == 1
    assert not any(value in str(caught.value) for value in wrong.values())


def test_mutual_tls_is_wanted_by_the_node_and_given_by_the_settings(
    opensearch: str, tmp_path: Path
) -> None:
    folder = make(tmp_path, "IP:127.0.0.1")
    index = f"guarded-{next(NAMES)}"
    Server(opensearch, "").index(index, {"@timestamp": DATE, "message": TEXT},
                                 {"@timestamp": minute(0), "message": "a"})  # fmt: skip
    front = guarding(opensearch, lambda _: True)
    ours = f"  certificate: {folder}/client.pem\n  key: {folder}/client.key\n"
    with serving(front, server_side(folder, mutual=True)) as (url, seen):
        text = HEAD + f"  url: {url}\n  indices: [{index}]\n  ca: {folder}/ca.pem\n"
        nameless = OpenSearchLogbook(site_of(said(tmp_path, text), {}), name="prod")
        known = OpenSearchLogbook(site_of(said(tmp_path, text + ours), {}), name="prod")

        with pytest.raises(ConnectorError, match=r"certificate|connection|broke off"):
            nameless.search(Search())
        refused = len(seen)
        found = known.search(Search())

    assert refused == 0
    assert [entry.message for entry in found.entries] == ["a"]


def test_a_certificate_of_another_host_is_refused(opensearch: str, tmp_path: Path) -> None:
    folder = make(tmp_path, "DNS:logs.example.org")
    with serving(guarding(opensearch, lambda _: True), server_side(folder)) as (url, seen):
        text = HEAD + f"  url: {url}\n  indices: [a]\n  ca: {folder}/ca.pem\n"
        book = OpenSearchLogbook(site_of(said(tmp_path, text), {}), name="prod")

        with pytest.raises(ConnectorError, match="certificate was not accepted"):
            book.search(Search())

    assert seen == []
