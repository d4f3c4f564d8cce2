"""The base of everything that the model writes: strict, frozen, nothing unknown."""

from pydantic import BaseModel, ConfigDict


class Arguments(BaseModel):
    """What the model may write. Nothing is converted, nothing unknown is taken."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
