"""Past incidents are found by what they share with a text, not by what they merely contain."""

import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from copilot.notes.front import Front
from copilot.notes.search import Query, search_notes, terms
from copilot.notes.sections import Finding
from copilot.notes.state import State, render

DAY = datetime(2026, 1, 31, tzinfo=UTC)
CAUSES = {
    "inc-dns": "UnknownHostException: name-server-7 cannot resolve msra-sa-41",
    "inc-disk": "No space left on device while writing spill12.out",
    "inc-proxy": "X509 proxy expired at 18:05, gfal-copy refused with exit code 60311",
    "inc-library": "ImportError: libboost_python-mt.so.1.53.0: cannot open shared object file",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder of four incidents, a day apart, the DNS one the oldest."""
    for day, (incident, cause) in enumerate(CAUSES.items()):
        front = Front(
            incident=incident,
            title="The workflow has stalled and the job failed",
            status="closed",
            outcome="confirmed",
            verdict=cause,
            updated=DAY + timedelta(days=day),
            labels={"alertname": f"Alert{day}", "site": "T2_US_Nebraska"},
        )
        write(tmp_path, State(front=front, findings=(Finding(cause, "confirmed"),)))
    return tmp_path


def write(root: Path, state: State) -> None:
    """Write an incident as the copilot would."""
    folder = root / state.front.incident
    folder.mkdir(exist_ok=True)
    (folder / "STATE.md").write_text(render(state))


def found(root: Path, query: Query) -> list[str]:
    """Return the incidents found, best first."""
    return [one.incident for one in search_notes(root, query)]


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("Why did the job fail? java.net.UnknownHostException: other-host", "inc-dns"),
        ("the workflow stalled: no space left on device spill99.out", "inc-disk"),
        ("jobs end with 60311", "inc-proxy"),
        ("ImportError: libboost_python-mt.so.1.66.0", "inc-library"),
    ],
)
def test_the_incident_of_the_same_kind_comes_first(root: Path, text: str, best: str) -> None:
    """Numbers and hosts differ; the rest of the words decides."""
    assert found(root, Query(text))[0] == best


def test_a_recall_says_how_it_ended_and_shows_the_line(root: Path) -> None:
    (recall, *_) = search_notes(root, Query("No space left on device"))

    assert recall.outcome == "confirmed"
    assert recall.updated == DAY + timedelta(days=1)
    assert "No space left on device" in recall.snippet


def test_a_label_counts_more_than_a_word(root: Path) -> None:
    query = Query("the job failed", labels=("alertname=Alert2", "site=T2_US_Nebraska"))

    assert found(root, query)[0] == "inc-proxy"


def test_only_incidents_since_a_time_and_never_the_one_that_asks(root: Path) -> None:
    query = Query("stalled workflow", since=DAY + timedelta(days=1), without="inc-library")

    assert sorted(found(root, query)) == ["inc-disk", "inc-proxy"]


def test_a_verdict_that_was_wrong_teaches_less(root: Path) -> None:
    twin = Front(incident="inc-twin", verdict=CAUSES["inc-disk"], title="The workflow has stalled")
    write(root, State(front=replace(twin, judgement="wrong")))
    write(root, State(front=replace(twin, incident="inc-twin-2")))

    order = found(root, Query("No space left on device"))

    assert order.index("inc-twin-2") < order.index("inc-twin")


def test_the_report_is_searched_too(root: Path) -> None:
    (root / "inc-dns" / "report.md").write_text("The switch in rack zanzibar was replaced.\n")

    assert found(root, Query("zanzibar")) == ["inc-dns"]


def test_nothing_shared_is_nothing_found(root: Path, tmp_path: Path) -> None:
    assert search_notes(root, Query("xylophone")) == ()
    assert search_notes(root, Query("")) == ()
    assert search_notes(tmp_path / "absent", Query("disk")) == ()


def test_a_broken_incident_does_not_hide_the_others(root: Path) -> None:
    (root / "inc-bad").mkdir()
    (root / "inc-bad" / "STATE.md").write_bytes(b"\xff disk \x1b[2J device")

    assert "inc-disk" in found(root, Query("device"))


def test_a_search_holds_one_incident_at_a_time(tmp_path: Path) -> None:
    for number in range(50):
        write(tmp_path, State(front=Front(incident=f"inc-{number:03}", title="a disk is full")))
        (tmp_path / f"inc-{number:03}" / "report.md").write_text("the disk of a node\n" * 5000)
    tracemalloc.start()

    assert len(found(tmp_path, Query("disk"))) == 20

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * 5000 * 20  # bytes of twenty reports: five times what one and its copies take


def test_a_long_text_keeps_its_names_and_some_plain_words() -> None:
    words = terms(
        "the " + " ".join(f"host{n}.example.org" for n in range(90)) + " certificate expired"
    )

    assert len(words) == 24
    assert {"certificate", "expired"} <= set(words)
    assert "the" not in words
