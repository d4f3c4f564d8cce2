"""One tool call from the model's words to a placed answer. It never raises.

Whatever goes wrong becomes a short text that the model can act on: an unknown tool, arguments that
do not fit, a source that refused, a fault of ours. The same call again is answered from scratch.
"""

import json
import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from pydantic import ValidationError

from copilot.artifacts import find_artifacts
from copilot.errors import ConfigError, CopilotError
from copilot.injection import sign
from copilot.models.model import Json, ToolCall
from copilot.redact import Redactor
from copilot.screening import screened, screened_text
from copilot.tools.arguments import Arguments
from copilot.tools.base import AnyTool, Case, Outcome
from copilot.values import JsonObject, canonical, compact

log = logging.getLogger(__name__)

MAX_CALLS = 8
"""Calls of one turn that are run; more than that is a model in a loop."""
SAYS = {"missing": "is missing", "extra_forbidden": "is not an argument of this tool"}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call whose arguments fit. `key` is the same text for the same call."""

    call: ToolCall
    tool: AnyTool
    arguments: Arguments
    normal: JsonObject
    """The arguments without those that have their default, for scratch and the journal."""

    @property
    def key(self) -> str:
        """Name and normalised arguments; empty for tools whose answer depends on when it is."""
        return f"{self.tool.name} {canonical(self.normal)}" if self.tool.repeatable else ""


@dataclass(frozen=True, slots=True)
class Ran:
    """A call with its outcome, before the outcome is placed."""

    call: ToolCall
    outcome: Outcome
    key: str = ""
    arguments: JsonObject = field(default_factory=dict)
    artifacts: tuple[tuple[str, str, int], ...] = ()
    """Kind, value and row of every identifier in the answer."""
    worth: str = ""
    """Set when it is known before the guard judges the answer."""
    ms: int = 0
    """How long it took."""


class Registry:
    """The tools of one investigation."""

    def __init__(self, tools: Sequence[AnyTool], redactor: Redactor) -> None:
        """Raises ConfigError when two tools have one name: the service refuses such a request."""
        counts = Counter(tool.name for tool in tools)
        if twice := sorted(name for name, count in counts.items() if count > 1):
            raise ConfigError(
                f"two tools are called {', '.join(twice)}: give one of each pair another name, or "
                "take its source out of copilot.yaml"
            )
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
        self._redactor = redactor

    def definitions(self) -> tuple[Json, ...]:
        """The tools as the model gets them, sorted by name: the same bytes in every process."""
        return tuple(tool.definition() for tool in self._tools.values())

    def only(self, names: Collection[str]) -> "Registry":
        """A registry of those tools alone."""
        chosen = [tool for name, tool in self._tools.items() if name in names]
        return Registry(chosen, self._redactor)

    def per_turn(self, name: str) -> int:
        """How many calls of that tool one turn may have."""
        tool = self._tools.get(name)
        return (tool.per_turn if tool else 0) or MAX_CALLS

    def prepare(self, call: ToolCall) -> Prepared | Ran:
        """The call ready to run, or at once the answer to one that cannot be."""
        tool = self._tools.get(call.name)
        if tool is None:
            near = get_close_matches(call.name, self._tools, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            return self._refused(call, f"there is no tool {call.name[:80]!r}{hint}")
        try:
            arguments = tool.arguments.model_validate_json(json.dumps(call.input))
        except ValidationError as error:
            return self._refused(call, f"{call.name}: {_explained(error)}")
        except ValueError as error:
            return self._refused(call, f"{call.name}: the arguments are not JSON: {error}")
        normal: JsonObject = arguments.model_dump(mode="json", exclude_defaults=True)
        return Prepared(call, tool, arguments, normal)

    def run(self, prepared: Prepared, case: Case) -> Ran:
        """Run one call. Safe to call from several threads at once."""
        name = prepared.tool.name
        try:
            outcome = prepared.tool.run(prepared.arguments, case)
        except (CopilotError, LookupError) as error:
            outcome = _failed(f"{name}: {error}")
        except Exception:
            # The one broad catch: a fault of ours must not end an investigation.
            log.exception("event=tool_failed tool=%s incident=%s", name, case.incident)
            outcome = _failed(f"{name} failed inside; try another tool or other arguments")
        return self._cleaned(prepared, outcome)

    def _refused(self, call: ToolCall, why: str) -> Ran:
        """The answer to a call that cannot be; the name that it was called by may be anything."""
        name = screened_text(call.name, self._redactor)[:80]
        return Ran(replace(call, name=name), self._screened(_failed(why)))

    def _screened(self, outcome: Outcome) -> Outcome:
        """The answer as it may reach the disk and the model, and what in it reads like orders."""
        outcome = replace(
            outcome,
            rows=tuple(screened([*outcome.rows], self._redactor)),
            facts=screened(outcome.facts, self._redactor),
            scope=screened(outcome.scope, self._redactor),
            why_incomplete=screened_text(outcome.why_incomplete, self._redactor),
            hint=screened_text(outcome.hint, self._redactor),
        )
        said = outcome.facts if outcome.ok else {**outcome.facts, "hint": outcome.hint}
        return replace(outcome, instruction_like=sign(outcome.rows, said))

    def _cleaned(self, prepared: Prepared, outcome: Outcome) -> Ran:
        """The whole answer screened, with the identifiers in it."""
        outcome = self._screened(outcome)
        found = tuple(
            (item.kind, item.value, number)
            for number, row in enumerate(outcome.rows if prepared.tool.shows else (), start=1)
            for item in find_artifacts(_words(row))
        )
        return Ran(prepared.call, outcome, prepared.key, prepared.normal, found)


def refused(
    call: ToolCall, why: str, *, arguments: JsonObject | None = None, worth: str = ""
) -> Ran:
    """The answer to a call that is not run, with what to do instead."""
    return Ran(call, _failed(why), arguments=arguments or {}, worth=worth)


def _failed(text: str) -> Outcome:
    return Outcome(ok=False, hint=text, stored=False)


def _words(row: JsonObject) -> str:
    """The texts of a row that may hold identifiers; template texts have theirs masked."""
    return "\n".join(
        value if isinstance(value, str) else compact(value)
        for key, value in row.items()
        if key not in ("template", "level", "time_flag") and value is not None
    )


def _explained(error: ValidationError) -> str:
    """What does not fit, argument by argument, with what is allowed."""
    parts = []
    for item in error.errors(include_url=False, include_input=True)[:5]:
        where = ".".join(str(step) for step in item["loc"]) or "arguments"
        says = SAYS.get(item["type"], item["msg"][:1].lower() + item["msg"][1:])
        given = "" if item["type"] in SAYS else f" (given {str(item['input'])[:60]!r})"
        parts.append(f"{where} {says}{given}")
    return "; ".join(parts)
