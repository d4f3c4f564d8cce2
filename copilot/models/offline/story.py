"""The story of the incident out of ranked lines: what was first, what followed, what went well."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from copilot.models.offline.causes import Strength, sign_of
from copilot.models.offline.circle import Circle
from copilot.models.offline.entities import as_term, is_identifier
from copilot.models.offline.lines import Line, kind_of
from copilot.models.offline.ranking import STORY, Candidate, is_setting, names, order
from copilot.models.offline.record_facts import Fact
from copilot.models.offline.view import View
from copilot.values import text_at

STEPS_TOLD = 8
OF_ONE_CLASS = 2
AS_GOOD = 2.5
"""Points by which an earlier line of the same class may be behind and still be the one to name."""
SAME_CAUSE = 4
"""Lines that carry the cause: the first, the first of further files, another wording."""
NOISE_TOLD = 3
WENT_WELL = 2
MEMBERS_AT_LEAST = 0.35
"""The share of the leading cause's points that an independent cause must have."""


@dataclass(frozen=True, slots=True)
class Story:
    """What will be told. `causes` has more than one member only when they are independent."""

    causes: tuple[Candidate, ...]
    support: tuple[Line, ...]
    """Further lines of the leading cause."""
    chain: tuple[Candidate, ...]
    before: tuple[Line, ...]
    """What was under way, or went well, just before."""
    ends: tuple[Line, ...]
    """The last words with the code that the alert names."""
    settings: tuple[Line, ...]
    noise: tuple[Candidate, ...]
    facts: tuple[Fact, ...]
    """What the records of the alert's own show."""
    strangers: tuple[Candidate, ...]
    """Other trouble in the logs, which shares nothing with the alert or its cause."""


def tell(view: View) -> Story:
    """The story as far as it is known."""
    causes = _causes(view)
    leading = causes[0] if causes else None
    circle = view.circle(*(item.first for item in causes))
    support = tuple(_support(view, leading, circle)) if leading else ()
    cited = {line.place for line in support} | {item.first.place for item in causes}
    chain, strangers = _sorted_out(view, circle, cited)
    told = {core(item) for item in causes}
    chain = _mixed([item for item in _different(chain) if core(item) not in told])[:STEPS_TOLD]
    chain.sort(key=lambda item: order(item.first))
    return Story(
        causes=causes,
        support=support,
        chain=tuple(chain),
        before=tuple(_before(view, leading, circle)) if leading else (),
        ends=tuple(_ends(view, leading, circle, cited | {item.first.place for item in chain}))
        if leading
        else (),
        settings=tuple(_settings(view)),
        noise=tuple(item for item in view.candidates if item.is_noise)[:NOISE_TOLD],
        facts=tuple(_facts(view, circle)),
        strangers=tuple(_different(strangers)),
    )


def _facts(view: View, circle: Circle) -> Iterator[Fact]:
    """Facts about records that a search for the alert's names found, or that belong to it."""
    names = {as_term(item.text) for item in view.brief.entities if item.weight > 1}
    asked = {
        item.answer.handle
        for item in view.transcript.of_step("probe")
        if text_at(item.input, "text") in names
    }
    for fact in view.facts:
        named = fact.line.reference.partition(":")[0] in asked
        if named or view.is_small or circle.holds(fact.line):
            yield fact


def _sorted_out(
    view: View, circle: Circle, cited: set[tuple[str, int, str]]
) -> tuple[list[Candidate], list[Candidate]]:
    """What may be told as the rest of the story, and what is trouble of somebody else."""
    ours, others = [], []
    for item in view.candidates:
        if item.points < STORY or item.is_noise or item.is_past:
            continue
        held = tuple(line for line in item.lines if circle.holds(line))
        if not held:
            others.append(item)
        elif held[0].place not in cited:
            ours.append(replace(item, lines=held))
    return ours, others


def _causes(view: View) -> tuple[Candidate, ...]:
    """The leading cause; all independent ones when every cause was asked for."""
    if not view.causes:
        return ()
    leading = _first_of_its_class(view.causes)
    if not view.brief.wants_every_cause:
        return (leading,)
    able = [
        item
        for item in view.causes
        if item.points > MEMBERS_AT_LEAST * leading.points
        and (not item.cause.general or 10 * item.count >= leading.count)
    ]
    return tuple(_different([leading, *able]))[:6]


def _first_of_its_class(causes: Sequence[Candidate]) -> Candidate:
    """The earliest of those that say about the same as the best one: errors have a beginning."""
    best = causes[0]
    same = [
        item
        for item in causes
        if item.sign.name == best.sign.name and item.points > best.points - AS_GOOD
    ]
    return min(same, key=lambda item: order(item.first))


def _different(items: Sequence[Candidate]) -> list[Candidate]:
    """Each wording once, the best one of it."""
    found: dict[str, Candidate] = {}
    for item in items:
        found.setdefault(core(item), item)
    return list(found.values())


def _mixed(items: Sequence[Candidate]) -> list[Candidate]:
    """The best of each class first: ten wordings of one failure tell less than two of each."""
    rank: dict[str, int] = {}
    places = []
    for item in items:
        rank[item.sign.name] = rank.get(item.sign.name, 0) + 1
        places.append((rank[item.sign.name] > OF_ONE_CLASS, item))
    return [item for _, item in sorted(places, key=lambda pair: pair[0])]


def core(candidate: Candidate) -> str:
    """What a line says at heart: from its sign on, without numbers."""
    line = candidate.first
    text = line.telling
    cause = candidate.sign.cause
    if cause and cause.role == "cause" and candidate.sign.strength is Strength.DIRECT:
        spans = (pattern.span(text) for pattern in cause.signs[Strength.DIRECT])
        start = next((span[0] for span in spans if span), 0)
        return f"{cause.name} {kind_of(text[start:])[:40].lower()}"
    return line.kind


def _support(view: View, leading: Candidate, circle: Circle) -> Iterator[Line]:
    """Further lines of the same cause: in other files, by other words, in the order of the file."""
    seen = {leading.first.place}
    kind = leading.first.telling
    same = [line for line in leading.lines[1:] if line.place not in seen]
    others = [
        line
        for item in view.causes
        if item is not leading and item.sign.name == leading.sign.name
        for line in item.lines[:1]
        if circle.holds(line)
    ]
    topmost = [
        line for line in _counted(view) if line.kind == leading.first.kind and circle.holds(line)
    ]
    sources = {leading.first.source}
    fresh = [line for line in same if line.source not in sources and circle.holds(line)]
    for line in [*others[:2], *topmost, *fresh]:
        if line.place in seen or (
            (line.source, line.telling) == (leading.first.source, kind) and (line not in topmost)
        ):
            continue
        seen.add(line.place)
        yield line
        if len(seen) > SAME_CAUSE:
            return


def _counted(view: View) -> list[Line]:
    """The topmost line of each source, for the phrases that were counted."""
    references = {
        str(values.get("ref"))
        for item in view.transcript.of_step("count")
        for row in item.answer.rows
        if isinstance(values := row.get("values"), dict)
    }
    return [line for line in view.dossier.lines if line.reference in references]


def _before(view: View, leading: Candidate, circle: Circle) -> Iterator[Line]:
    """The entry just before the first error that shares a name with it; the last that went well."""
    first = leading.first
    same = sorted(
        (
            line
            for line in view.dossier.lines
            if line.source == first.source and line.line < first.line
        ),
        key=lambda line: -line.line,
    )
    shared = [word for word in first.message.split() if is_identifier(word)]
    for line in same[:3]:
        if any(word.strip(".,:;") in line.message for word in shared) and not line.severity:
            yield line
            same = [line]
            break
    else:
        same = []
    healthy = [
        line
        for line in view.dossier.lines
        if sign_of(line.telling).role == "healthy"
        and not (line.is_document or line in same)
        and circle.holds(line)
        and order(line) < order(first)
    ]
    latest = {line.kind: line for line in sorted(healthy, key=order)}
    yield from sorted(latest.values(), key=order)[-WENT_WELL:]


def _ends(
    view: View, leading: Candidate, circle: Circle, told: set[tuple[str, int, str]]
) -> Iterator[Line]:
    """The last entry with a code that the alert names, if it comes after the cause."""
    codes = [item.text for item in view.brief.entities if item.text.isdigit()]
    lines = [
        line
        for line in view.dossier.lines
        if any(names(line, code) for code in codes)
        and line.place not in told
        and order(line) > order(leading.first)
        and circle.holds(line)
    ]
    if lines:
        yield max(lines, key=order)


def _settings(view: View) -> Iterator[Line]:
    """Settings that a ticket or the alert names."""
    texts = "\n".join(line.message for line in view.dossier.tickets) + view.brief.text
    for line in view.dossier.lines:
        name = line.message.split("=", 1)[0].strip(" #:")
        if is_setting(line) and "_" in name and name in texts:
            yield line
