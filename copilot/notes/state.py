"""STATE.md: what is known of one incident, as a page that a person reads and code parses.

`parse(render(state)) == state` for every text, and what an operator wrote between our lines, or
into them, stays as and where she wrote it. Parsing never fails: a line that cannot be read is hers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from copilot.notes import entries
from copilot.notes.entries import E, Form, next_entry, written
from copilot.notes.front import EMPTY, Front, is_title, parse_front, read_title, render_front
from copilot.notes.markdown import prose, read_prose
from copilot.notes.page import (
    AT_END,
    FOLDED,
    FRONT,
    HEAD,
    HEADINGS,
    INDENT,
    LISTS,
    NOTHING,
    Aside,
    folded_count,
    folded_line,
    split,
    trimmed,
)
from copilot.notes.sections import (
    Artifact,
    Done,
    Finding,
    Moment,
    Question,
    RuledOut,
    clean_prose,
    settle,
)
from copilot.safe_text import safe_text

LIMIT_ALERT = 32 * 1024
"""Characters of the alert that are kept verbatim."""
LIMIT_NOTE = 1000
"""Characters of `now` and `next_step`."""


@dataclass(frozen=True, slots=True)
class State:
    """What is known of one incident. Every text in it is safe to show and within its limit."""

    front: Front = EMPTY
    alert: str = ""
    """As it arrived, redacted."""
    now: str = ""
    artifacts: tuple[Artifact, ...] = ()
    findings: tuple[Finding, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    already_done: tuple[Done, ...] = ()
    open_questions: tuple[Question, ...] = ()
    timeline: tuple[Moment, ...] = ()
    next_step: str = ""
    folded: Mapping[str, int] = field(default_factory=dict)
    """How many of a section's oldest entries were dropped to keep the page small."""
    asides: tuple[Aside, ...] = ()
    raw: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """The line of `now` and `next_step` as it was in the file."""

    def __post_init__(self) -> None:
        alert = safe_text("\n".join(trimmed(self.alert.split("\n"))), limit=LIMIT_ALERT)
        settle(
            self,
            alert="\n".join(trimmed(alert.split("\n"))),
            now=clean_prose(self.now, LIMIT_NOTE),
            next_step=clean_prose(self.next_step, LIMIT_NOTE),
        )


def render(state: State) -> str:
    """The page: front matter, title, then every section in its order, empty ones included."""
    bodies = {
        "alert": _text(state, "alert", _indented(state.alert)),
        "now": _text(state, "now", _line(state.now, state.raw.get("now", ""))),
        "artifacts": _entries(state, "artifacts", state.artifacts, entries.ARTIFACTS),
        "findings": _entries(state, "findings", state.findings, entries.FINDINGS),
        "ruled_out": _entries(state, "ruled_out", state.ruled_out, entries.RULED_OUT),
        "already_done": _entries(state, "already_done", state.already_done, entries.ALREADY_DONE),
        "open_questions": _entries(
            state, "open_questions", state.open_questions, entries.OPEN_QUESTIONS
        ),
        "timeline": _entries(state, "timeline", state.timeline, entries.TIMELINE),
        "next_step": _text(
            state, "next_step", _line(state.next_step, state.raw.get("next_step", ""))
        ),
    }
    lines = render_front(state.front, _asides(state, FRONT))
    if below_title := _asides(state, HEAD):
        lines += ["", *below_title]
    for key, heading in HEADINGS.items():
        lines += ["", f"## {heading}", "", *bodies[key]]
        if behind := _asides(state, key, AT_END):
            lines += ["", *behind]
    return "\n".join(lines) + "\n"


def parse(text: str) -> State:
    """The state that a page holds. Never raises; whatever is not ours becomes an aside."""
    lines = [line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")]
    front, own, end = parse_front(lines)
    bodies, asides = split(lines[end:])
    if own:
        asides.append(Aside(FRONT, 0, "\n".join(own)))
    head = bodies[HEAD]
    titles = [line for line in head if is_title(line)][:1]
    for line in titles:
        head.remove(line)
        front = replace(front, title=read_title(line), raw={**front.raw, "title": line})
    if below_title := trimmed(head):
        asides.append(Aside(HEAD, 0, "\n".join(below_title)))
    return _read_sections(front, bodies, asides)


def _text(state: State, key: str, text: list[str]) -> list[str]:
    """The body of a section that is one text, and an operator's lines below it."""
    own = _asides(state, key, 1)
    return [*(text or [NOTHING]), *([""] if own else []), *own]


def _indented(alert: str) -> list[str]:
    """The alert as a code block. Indented, not fenced: no edit can make it swallow the page."""
    return [INDENT + line if line else "" for line in alert.split("\n")] if alert else []


def _line(text: str, raw: str) -> list[str]:
    """The text on one line, as it was in the file where that still says the same."""
    if raw and clean_prose(read_prose(raw), LIMIT_NOTE) == text:
        return [raw]
    return [prose(text)] if text else []


def _entries(state: State, key: str, listed: Sequence[E], form: Form[E]) -> list[str]:
    """The body of a section that is a list, with an operator's lines where they stood."""
    count = state.folded.get(key, 0)
    lines: list[str] = []
    for position, entry in enumerate(listed):
        lines += [*_asides(state, key, position), written(entry, form)]
    for aside in state.asides:
        if aside.section == key and aside.after >= len(listed):
            lines += aside.text.split("\n")
    top = folded_line(count) if count else "" if listed else NOTHING
    return [*([top] if top else []), *([""] if top and lines else []), *lines]


def _asides(state: State, key: str, after: int = 0) -> list[str]:
    """The operator's lines that stand there."""
    texts = [one.text for one in state.asides if one.section == key and one.after == after]
    return "\n".join(texts).split("\n") if texts else []


def _read_sections(front: Front, bodies: dict[str, list[str]], asides: list[Aside]) -> State:
    folded = {key: count for key in LISTS if (count := folded_count(bodies[key]))}
    raw = {key: bodies[key][0] for key in ("now", "next_step") if bodies[key]}

    def listed(key: str, form: Form[E]) -> tuple[E, ...]:
        return _read_entries(key, bodies[key], form, asides)

    return State(
        front=front,
        alert=_read_alert(bodies["alert"], asides),
        now=_read_line("now", bodies["now"], asides),
        artifacts=listed("artifacts", entries.ARTIFACTS),
        findings=listed("findings", entries.FINDINGS),
        ruled_out=listed("ruled_out", entries.RULED_OUT),
        already_done=listed("already_done", entries.ALREADY_DONE),
        open_questions=listed("open_questions", entries.OPEN_QUESTIONS),
        timeline=listed("timeline", entries.TIMELINE),
        next_step=_read_line("next_step", bodies["next_step"], asides),
        folded=folded,
        asides=tuple(asides),
        raw=raw,
    )


def _read_alert(body: list[str], asides: list[Aside]) -> str:
    end = 0
    while end < len(body) and (not body[end].strip() or body[end].startswith(INDENT)):
        end += 1
    _keep_below("alert", body[end:], asides)
    return "\n".join(line.removeprefix(INDENT) for line in body[:end])


def _read_line(key: str, body: list[str], asides: list[Aside]) -> str:
    _keep_below(key, body[1:], asides)
    return read_prose(body[0]) if body and body[0] != NOTHING else ""


def _keep_below(key: str, lines: list[str], asides: list[Aside]) -> None:
    """Keep what stands below a text as an aside."""
    if lines[:1] == [NOTHING]:
        lines = lines[1:]
    if own := trimmed(lines):
        asides.append(Aside(key, 1, "\n".join(own)))


def _read_entries(key: str, body: list[str], form: Form[E], asides: list[Aside]) -> tuple[E, ...]:
    """The entries of a list; the lines between them become asides."""
    lines = trimmed([one for one in body if one != NOTHING and not FOLDED.fullmatch(one)])
    found: list[E] = []
    own: list[str] = []
    at = 0
    while at < len(lines):
        entry = next_entry(lines, at, form)
        if entry:
            if own:
                asides.append(Aside(key, len(found), "\n".join(own)))
                own = []
            found.append(entry[0])
            at = entry[1]
        else:
            own.append(lines[at])
            at += 1
    if own:
        asides.append(Aside(key, len(found), "\n".join(own)))
    return tuple(found)
