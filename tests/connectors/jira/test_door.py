"""What leaves this machine, and what may come back: time, size, certificates, no other origin."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from connectors.jira_tracker import JiraSite, open_jira
from connectors.jira_tracker.door import LARGEST_BODY, Door
from connectors.jira_tracker.replies import Ask, NoReply
from connectors.tracker import TicketSearch
from tests.certificates import make, server_side
from tests.connectors.jira.conftest import TurnedClock, site_of, tracker_on
from tests.doubles.jira import Fault, Issue, Jira
from tests.doubles.proxy import Proxy

Served = Callable[..., Jira]
ASK = Ask("myself", "3/myself")


def door_to(jira: Jira, **changes: Any) -> Door:
    return Door(site_of(jira, **changes), jira.site.token)


def test_silence_ends_the_request(served: Served) -> None:
    jira = served()
    jira.fault("/myself", Fault(delay_s=0.6))

    with pytest.raises(NoReply, match=r"no answer within 0\.1 s"):
        door_to(jira, read_s=0.1).send(ASK)


def test_an_answer_that_drips_ends_the_request(served: Served) -> None:
    jira = served()
    jira.fault("/myself", Fault(200, {}, b" " * 100, drips_s=0.02))

    with pytest.raises(NoReply, match="took over"):
        door_to(jira, read_s=1.0, whole_s=0.1).send(ASK)


def test_an_answer_without_end_is_cut_off(served: Served) -> None:
    jira = served()
    jira.fault("/myself", Fault(200, {}, b" " * (LARGEST_BODY + 1)))

    with pytest.raises(NoReply, match="8 MiB") as caught:
        door_to(jira).send(ASK)

    assert not caught.value.again


def test_a_port_that_takes_and_never_answers_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        site = JiraSite(f"http://127.0.0.1:{mute.getsockname()[1]}", ("OPS",), read_s=0.05)

        with pytest.raises(NoReply, match="no answer"):
            Door(site, "").send(ASK)


def test_a_closed_port_is_told_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]

    with pytest.raises(NoReply, match="Connection refused"):
        Door(JiraSite(f"http://127.0.0.1:{port}", ("OPS",)), "").send(ASK)


def test_basic_with_a_user_and_bearer_without(served: Served) -> None:
    jira = served(deployment="server")

    for user in (jira.site.user, ""):
        assert door_to(jira, user=user).send(Ask("myself", "2/myself")).status == 200

    kinds = [received.headers["authorization"].split()[0] for received in jira.requests]
    assert kinds == ["Basic", "Bearer"]


@pytest.mark.bad_input("B85")
def test_the_environment_changes_nothing(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    jira = served()
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", os.devnull)

    door = door_to(jira)

    assert door.send(ASK).status == 200
    assert door._session.verify is True


def test_a_cookie_is_not_kept(served: Served) -> None:
    jira = served()
    jira.fault("/myself", Fault(200, {"Set-Cookie": "JSESSIONID=x; Path=/"}, b"{}"))
    door = door_to(jira)

    door.send(ASK)
    door.send(ASK)

    assert "cookie" not in jira.requests[1].headers


def test_opening_asks_nothing_and_the_secret_is_not_shown(served: Served) -> None:
    jira = served()

    tracker = open_jira(site_of(jira), token=lambda: jira.site.token)

    assert jira.requests == []
    assert jira.site.token not in repr(vars(tracker))


def test_a_context_path_stays_in_the_address(turned: TurnedClock) -> None:
    with Jira(path="/jira") as jira:
        jira.site.issues.append(Issue("OPS-1", "disk"))

        assert tracker_on(jira, turned).search(TicketSearch(text="disk")).tickets


def test_the_vendor_is_loaded_with_the_first_call_only() -> None:
    code = "import sys, connectors.jira_tracker; sys.exit('jira' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("tls"), "DNS:jira.example.org")


def behind(proxy: Proxy, jira: Jira, ca_file: Path | None) -> Door:
    url = "https://jira.example.org"
    return door_to(jira, url=url, proxy=proxy.url, ca_file=ca_file)


def test_a_site_is_reached_through_the_proxy_and_by_the_authority_that_are_named(
    served: Served, certificates: Path
) -> None:
    jira = served()
    with Proxy(jira.url, server_side(certificates)) as proxy:
        reply = behind(proxy, jira, certificates / "ca.pem").send(ASK)

    assert reply.status == 200
    assert [line.split()[1] for line in proxy.asked] == ["jira.example.org:443"]


def test_an_authority_that_is_no_file_is_named_and_not_tried_again(
    served: Served, tmp_path: Path
) -> None:
    jira = served()

    with pytest.raises(NoReply, match=r"nowhere\.pem is no file .* mend its `ca`") as caught:
        door_to(jira, ca_file=tmp_path / "nowhere.pem").send(ASK)

    assert not caught.value.again
    assert jira.requests == []


def test_a_certificate_of_an_unknown_authority_is_refused(
    served: Served, certificates: Path
) -> None:
    jira = served()
    with (
        Proxy(jira.url, server_side(certificates)) as proxy,
        pytest.raises(NoReply, match="certificate was not accepted") as caught,
    ):
        behind(proxy, jira, None).send(ASK)

    assert not caught.value.again
