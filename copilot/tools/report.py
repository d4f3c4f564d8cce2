"""The tool that ends an investigation. The gate stands in front of it."""

from copilot.report.gate import kept, problems
from copilot.report.values import Report
from copilot.tools.base import Case, Outcome, Tool
from copilot.tools.notes import grounds

MAX_REFUSALS = 2
"""After so many refusals a report leaves without the claims that lack support."""
SHOWN = 8


def _submit(report: Report, case: Case) -> Outcome:
    wrong = problems(report, grounds(case))
    if wrong and case.refusals() < MAX_REFUSALS:
        return Outcome(
            ok=False,
            facts={"problems": list(wrong[:SHOWN])},
            hint=f"refused: {len(wrong)} claims lack support; mend or drop them, then submit again",
            effect={"refused": True},
            stored=False,
        )
    report, unsupported = kept(report, grounds(case))
    return Outcome(
        facts={"accepted": True, "left_out": list(unsupported)},
        effect={"report": report.model_dump(mode="json"), "unsupported": list(unsupported)},
        stored=False,
        ends=True,
    )


TOOLS = (
    Tool(
        "submit_report",
        "Hand in the final report and end. Refused, naming the claims, while a reference does not "
        "resolve or a quote is not on its line.",
        Report,
        _submit,
        repeatable=False,
    ),
)
