"""What copilot.yaml may say of a logbook: the file of our own, or an OpenSearch.

Secrets are never among it: see `copilot.logbooks`.
"""

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from copilot.addresses import checked_index
from copilot.settings.kinds import Length, Name, Pattern, Url, WorkspacePath
from copilot.strict_model import Strict

FieldName = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^*\s]+$")]
Index = Annotated[str, AfterValidator(checked_index)]


class Mask(Strict):
    """A pattern (RE2) of whole words with a digit in them; templates show `<NAME>` instead."""

    pattern: Pattern
    name: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,19}$")]


class EmbeddedLogbookSource(Strict):
    """A logbook in a file of our own, and what its templates mask besides the usual identifiers."""

    name: Name
    """What the model calls it by."""
    kind: Literal["embedded"] = "embedded"
    """embedded: a file of our own, filled by `import`."""
    path: WorkspacePath
    masks: tuple[Mask, ...] = ()


class EntryFields(Strict):
    """Which fields of an entry say what. Left out: read from the mapping, and said so."""

    time: FieldName | None = None
    """Needed where several fields are dates."""
    time_unit: Literal["s", "ms", "us", "ns"] | None = None
    """s, ms, us or ns: for a time that is kept as a plain number."""
    message: FieldName | None = None
    level: FieldName | None = None
    source: FieldName | None = None
    """What names the file or the program; else the index does."""
    line: FieldName | None = None
    keywords: tuple[FieldName, ...] = ()
    """Behind a proxy only: the fields that filters may use."""
    searched: tuple[FieldName, ...] = ()
    """Fields that a text is looked for in besides the message."""


class OpenSearchLogbookSource(Strict):
    """A logbook in the indices of an OpenSearch."""

    name: Name
    """What the model calls it by; in capitals, a part of the names of its secrets."""
    kind: Literal["opensearch"]
    url: Url
    """Its address; behind Grafana, that of the data source: …/api/datasources/proxy/uid/ID."""
    indices: Annotated[tuple[Index, ...], Field(min_length=1)]
    """Names, aliases, data streams or patterns. Nothing else is ever asked for or shown."""
    proxy: Literal["none", "grafana"] = "none"
    """grafana: nothing but `_msearch` gets through, so `fields` must name time and message."""
    fields: EntryFields = EntryFields()
    auth: Literal["none", "basic", "bearer", "sigv4"] = "none"
    user: str = ""
    region: str = ""
    service: Literal["es", "aoss"] = "es"
    ca: WorkspacePath | None = None
    """The certificates that its own must be signed by; else those of this machine."""
    certificate: WorkspacePath | None = None
    """A certificate of ours, for mutual TLS."""
    key: WorkspacePath | None = None
    connect_timeout: Length = timedelta(seconds=5)
    timeout: Length = timedelta(seconds=30)
    """For one whole answer; the server is told to stop a little earlier."""
    masks: tuple[Mask, ...] = ()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.auth == "basic" and not self.user:
            raise ValueError("auth: basic needs `user`; the password comes from the environment")
        if self.auth == "sigv4" and not self.region:
            raise ValueError("auth: sigv4 needs `region`")
        if self.key and not self.certificate:
            raise ValueError("`key` belongs to a `certificate`; name both, or one file with both")
        if self.proxy == "grafana" and not (self.fields.time and self.fields.message):
            raise ValueError(
                "proxy: grafana shows no mapping; name `fields.time` and `fields.message`"
            )
        return self
