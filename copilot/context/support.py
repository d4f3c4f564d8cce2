"""What an endpoint can do of its own for the context. A value; who finds it out is elsewhere."""

from dataclasses import asdict, dataclass, fields, replace

from copilot.values import JsonObject


@dataclass(frozen=True, slots=True)
class Support:
    """The server-side levers of one model at one address. All false: do everything here."""

    clear_tool_uses: bool = False
    clear_thinking: bool = False
    on_demand: bool = False
    """A summary when we ask for one (beta compact-2026-09-04)."""
    threshold: bool = False
    """A summary when the service finds the request too large (compact_20260112)."""
    adaptive_thinking: bool = False
    binds_thinking: bool = False
    """Thoughts are bound to everything before them: nothing earlier may be changed here."""
    caching: bool = True

    def as_json(self) -> JsonObject:
        """The value as the journal keeps it."""
        return {**asdict(self)}

    def without(self, feature: str) -> "Support":
        """The same endpoint after it refused or ignored *feature*."""
        return replace(self, **{feature: False}) if hasattr(self, feature) else self


NOTHING = Support()


def from_json(data: JsonObject) -> Support:
    """The value that `as_json` made *data* of; what is missing is not supported."""
    return Support(
        **{item.name: data.get(item.name, item.default) is True for item in fields(Support)}
    )
