"""What a report says, as the model hands it in. The classes are also the schema it gets."""

from typing import Literal

from pydantic import Field

from copilot.tools.arguments import Arguments

Verdict = Literal["action_needed", "action_suggested", "no_action", "inconclusive"]
Status = Literal["confirmed", "likely", "possible"]
Text = Field(min_length=1, max_length=1500)


class Evidence(Arguments):
    """One line that a reader can open, and the part of it that carries the claim."""

    reference: str = Field(max_length=40, description="R0007:41; absence: R0007")
    quote: str = Field("", max_length=500, description="Verbatim; absence: empty")


class Claim(Arguments):
    """One statement with what supports it."""

    claim: str = Text
    status: Status
    evidence: tuple[Evidence, ...] = Field(max_length=24)


class RuledOut(Arguments):
    """A cause that was looked at and does not hold."""

    claim: str = Text
    why: str = Text
    evidence: tuple[Evidence, ...] = Field((), max_length=8)


class Report(Arguments):
    """Arguments of `submit_report`."""

    verdict: Verdict
    summary: str = Field(min_length=1, max_length=1500)
    cause: Claim | None = Field(None, description="The root cause; leave out when inconclusive")
    chain: tuple[Claim, ...] = Field((), max_length=12, description="What happened, in time order")
    evidence: tuple[Claim, ...] = Field((), max_length=12, description="Other facts that matter")
    ruled_out: tuple[RuledOut, ...] = Field((), max_length=12)
    not_checked: tuple[str, ...] = Field((), max_length=12)
    next_steps: tuple[str, ...] = Field(
        (), max_length=12, description="What would settle or fix it"
    )

    def claims(self) -> tuple[Claim, ...]:
        """Every claim that needs support: the cause, the chain, the other facts."""
        return (*((self.cause,) if self.cause else ()), *self.chain, *self.evidence)
