"""The base of everything that the model writes: strict, frozen, nothing unknown."""

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

QUERY_CHARACTERS = 6_000
"""Room for a page token and a text at their longest, and for no list of a thousand values."""


class Arguments(BaseModel):
    """What the model may write. Nothing is converted, nothing unknown is taken."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Query(Arguments):
    """Arguments that go to a source: whoever may read its log of queries reads them too."""

    @model_validator(mode="after")
    def _is_short(self) -> Self:
        size = len(self.model_dump_json(exclude_defaults=True))
        if size > QUERY_CHARACTERS:
            raise ValueError(
                f"the query has {size} characters, at most {QUERY_CHARACTERS} are sent to a "
                "source; ask for less at a time"
            )
        return self
