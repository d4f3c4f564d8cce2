"""Who is let in: one secret, compared in constant time, before a byte of a body is read."""

import base64
import hmac

import pytest

from copilot.credentials import secret
from copilot.errors import ConfigError, CredentialsError
from copilot.web.access import Access, access_from, check_listen
from copilot.web.limits import Limits
from tests.web.served import POST, Served, heard

TOKEN = "correct-horse-battery"
BOTH = {"COPILOT_INTAKE_TOKEN": TOKEN, "COPILOT_INTAKE_BASIC": "ops:s3cr3t"}


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.fixture
def access() -> Access:
    return access_from(BOTH)


@pytest.mark.parametrize(
    "given",
    [
        f"Bearer {TOKEN}",
        f"bearer  {TOKEN} ",
        basic("ops:s3cr3t"),
        basic("ops:s3cr3t").upper()[:5] + basic("ops:s3cr3t")[5:],
    ],
)
def test_each_secret_opens_the_door(access: Access, given: str) -> None:
    assert access.admits([given])


@pytest.mark.parametrize(
    "given",
    [
        [], [""], ["Bearer"], ["Bearer "], ["Bearer wrong"], [TOKEN], [f"Digest {TOKEN}"],
        [f"Bearer {TOKEN}x"], [f"Bearer {TOKEN[:-1]}"], [f"Basic {TOKEN}"], ["Basic ====="],
        ["Basic \xfc\xfc"], [basic("jürgen:pässwort")], [basic("ops:")], [basic("ops:s3cr3t\0")],
        ["Basic " + base64.b64encode("ops:pä".encode("latin-1")).decode()], ["Bearer \u20ac"],
        [f"Bearer {TOKEN}", f"Bearer {TOKEN}"], [f"Bearer {TOKEN}", basic("ops:s3cr3t")],
    ],
)  # fmt: skip
@pytest.mark.bad_input("B26", "B27", "B28")
def test_anything_else_does_not(access: Access, given: list[str]) -> None:
    assert not access.admits(given)


@pytest.mark.bad_input("B26")
@pytest.mark.parametrize(
    ("given", "compared"),
    [("Bearer x", 2), (f"Bearer {TOKEN[:-1]}", 2), ("Bearer " + "x" * 5000, 2), (f"Bearer {TOKEN}", 2),
     ("Basic =====", 1), (basic("ops:"), 1), (basic("ops:s3cr3t"), 1)],
)  # fmt: skip
def test_right_or_wrong_each_secret_is_compared_whole_and_at_one_length(
    access: Access, given: str, compared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time itself is noise on a shared machine; what it takes is the same for every guess."""
    sizes = []

    def compare(one: bytes, other: bytes) -> bool:
        sizes.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    access.admits([given])

    assert sizes == [(32, 32)] * compared


def test_a_door_with_one_secret_is_not_opened_by_the_other_ones_absence() -> None:
    only_token = access_from({"COPILOT_INTAKE_TOKEN": TOKEN})

    assert not only_token.admits(["Basic "])
    assert not access_from({"COPILOT_INTAKE_BASIC": "ops:s3cr3t"}).admits(["Bearer "])
    assert only_token.challenge() == "Bearer"


def test_a_basic_secret_without_a_colon_is_refused_at_start() -> None:
    with pytest.raises(CredentialsError, match="user:password"):
        access_from({"COPILOT_INTAKE_BASIC": "justapassword"})


@pytest.mark.parametrize("listen", ["0.0.0.0:8080", "[::]:80", "192.0.2.1:1", "ops.example:1"])
def test_strangers_reach_no_daemon_without_a_secret(listen: str) -> None:
    with pytest.raises(ConfigError, match="COPILOT_INTAKE_TOKEN"):
        check_listen(listen, Access())
    check_listen(listen, Access(token=secret("T", {"T": TOKEN})))


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "[::1]:8080", "localhost:80", "127.8.8.8:1"])
def test_loopback_may_stand_open(listen: str) -> None:
    check_listen(listen, Access())


@pytest.mark.parametrize("path", ["/v1/alerts", "/v1/incidents", "/metrics", "/v1/nothing"])
@pytest.mark.bad_input("B26")
def test_everything_but_health_asks_for_the_secret(access: Access, path: str) -> None:
    with Served(access=access) as served:
        refused = served.get(path)

        assert refused.status == 401
        assert refused.headers["www-authenticate"].startswith("Bearer, Basic realm=")
        assert served.get(path, authorization=f"Bearer {TOKEN}").status in (200, 404)
        for open_path in ("/healthz", "/readyz", "/-/healthy", "/-/ready"):
            assert served.get(open_path).status == 200


@pytest.mark.bad_input("B28")
def test_two_authorization_headers_are_refused_on_the_wire(access: Access) -> None:
    with Served(access=access) as served:
        line = f"Authorization: Bearer {TOKEN}\r\n".encode()

        answer = served.say(b"GET /v1/alerts HTTP/1.1\r\nHost: localhost\r\n", line, line, b"\r\n")

        assert answer.status == 401


@pytest.mark.bad_input("B26")
def test_a_stranger_is_refused_at_once_and_no_body_is_asked_for(access: Access) -> None:
    with Served(access=access, limits=Limits(body_s=120)) as served, served.dial() as line:
        line.sendall(
            f"POST {POST} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n".encode()
        )

        answer = heard(line)

        assert answer.status == 401  # and not "100 Continue"
        assert answer.headers["connection"] == "close"
        assert served.desk.turned == [("alertmanager", 401)]


def test_why_it_is_not_ready_is_told_to_friends_only(access: Access) -> None:
    with Served(access=access) as served:
        served.desk.problems = ["the model refuses the key"]

        stranger = served.get("/readyz")
        friend = served.get("/readyz", authorization=f"Bearer {TOKEN}")

        assert (stranger.status, stranger.json) == (503, {"status": "not ready"})
        assert friend.json["problems"] == ["the model refuses the key"]


def test_what_it_works_without_is_told_to_friends_and_keeps_no_alert_back(access: Access) -> None:
    with Served(access=access) as served:
        served.desk.troubles = ["poll tickets: no answer within 300 s"]

        stranger = served.get("/readyz")
        friend = served.get("/readyz", authorization=f"Bearer {TOKEN}")

        assert (stranger.status, stranger.json) == (200, {"status": "ready"})
        assert (friend.status, friend.json["degraded"]) == (200, served.desk.troubles)
