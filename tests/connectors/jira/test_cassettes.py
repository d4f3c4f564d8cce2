"""The recorded calls replay with the server gone, and hold nothing that should not be there."""

import pytest

from tests.connectors.jira.cassettes import CASES, FOLDER, cassette, play


@pytest.mark.parametrize("name", ["cloud_search", "server_search"])
def test_a_search_of_two_pages_replays(name: str) -> None:
    with cassette(name) as tape:
        found, sleeps = play(CASES[name])

    assert sorted(ticket.key for ticket in found.tickets) == ["OPS-1", "OPS-2"]
    assert (found.coverage.complete, sleeps, tape.all_played) == (True, [], True)


def test_a_ticket_with_two_pages_of_comments_replays() -> None:
    with cassette("cloud_ticket") as tape:
        ticket, _ = play(CASES["cloud_ticket"])

    assert [comment.text for comment in ticket.comments] == ["c0", "c1", "c2"]
    assert ticket.summary == "Müller's disk is full"
    assert tape.all_played


def test_a_rate_limit_replays_with_its_wait_and_without_sleeping() -> None:
    with cassette("rate_limit") as tape:
        found, sleeps = play(CASES["rate_limit"])

    assert (len(found.tickets), sleeps, tape.all_played) == (2, [7.0], True)


@pytest.mark.parametrize("name", CASES)
def test_a_cassette_holds_no_secret_host_or_cookie(name: str) -> None:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").lower()

    for forbidden in ("authorization", "basic ", "cookie", "127.0.0.1", "!!binary", "token:"):
        assert forbidden not in text


def test_every_cassette_is_played_by_a_test() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(CASES)
