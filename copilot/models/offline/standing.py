"""How sure the cause is, and what keeps it from being surer."""

from dataclasses import dataclass

from copilot.models.offline.causes import Strength
from copilot.models.offline.entities import is_identifier
from copilot.models.offline.ranking import QUIET, Candidate, names, names_sibling
from copilot.models.offline.story import Story
from copilot.models.offline.view import View
from copilot.models.offline.wording import is_direct

UNSURE = frozenset({"lost_worker", "overload", "timeout", "limit", "waiting", "crash"})
"""Classes whose line shows that something happened, and not that it made the alert."""


@dataclass(frozen=True, slots=True)
class Standing:
    """confirmed, likely or possible, and what is open; nothing is when confirmed."""

    status: str
    open: str = ""


def standing(view: View, leading: Candidate, story: Story) -> Standing:
    """How sure the cause is, by how exact its line is and how near to the alert."""
    return _doubted(view, leading) or _weakened(view, leading, story) or Standing("confirmed")


def _doubted(view: View, leading: Candidate) -> Standing | None:
    """What makes it no more than possible: the line may be another's, or be no trouble at all."""
    first, sign = leading.first, leading.sign
    if _strays(view, leading):
        return Standing("possible", "No line ties this to what the alert names.")
    if view.is_any_trouble:
        return Standing("possible", "The alert names nothing that these logs know, and no time.")
    if first.level in QUIET and sign.role == "cause":
        return Standing("possible", "The line is no error: a program that goes on writes it too.")
    if sign.strength is not Strength.DIRECT:
        status = "likely" if first.severity > 1 else "possible"
        return Standing(status, "The line hints at this cause and does not name it.")
    return None


def _weakened(view: View, leading: Candidate, story: Story) -> Standing | None:
    """What makes it no more than likely."""
    rival = next((item for item in view.causes[1:] if item.sign.name != leading.sign.name), None)
    if rival and rival.points > leading.points - 1.0 and not leading.is_related:
        other = f"{rival.cause.says[:1].lower()}{rival.cause.says[1:]} ({rival.first.source})"
        return Standing("likely", f"Nearly as much speaks for another cause: {other}.")
    if leading.sign.name in UNSURE:
        return Standing("likely", "The line shows that this happened, not that it made the alert.")
    if not view.names_are_known:
        return Standing("likely", "What the alert names is in no line.")
    if not (is_direct(leading.first) or story.support):
        return Standing("likely", "One line says so, and it is no error.")
    return None


def _strays(view: View, leading: Candidate) -> bool:
    """True when the leading line may be about something else than the alert is.

    What the alert names is in the logs, but not where that line stands, and the line is not new
    either; or the file speaks of others of its kind, no trouble names it, and no time tells that
    the two belong together.
    """
    present = [item for item in view.brief.entities if view.present(item)]
    first = leading.first
    is_new = first.compared and not first.baseline
    if present and not leading.is_near and not is_new:
        return True
    exact = [item.text for item in present if item.weight > 1 and is_identifier(item.text)]
    if not exact or view.brief.times:
        return False
    named = any(names(item.first, text) for item in view.candidates for text in exact)
    here = (line for line in view.dossier.lines if line.source == first.source)
    return not named and any(names_sibling(line, view.brief) for line in here)
