"""The page of a report shows what was written and renders none of it."""

from pathlib import Path

from copilot.report.render import Cost, Page, as_markdown
from copilot.report.values import Report
from copilot.scratch.store import Scratch

MARKUP = "[click](javascript:alert(1)) <img src=x>"


def test_markup_of_untrusted_text_stands_as_visible_text(tmp_path: Path) -> None:
    report = Report(verdict="inconclusive", summary=MARKUP, cause=None, next_steps=(MARKUP,))
    page = Page("inc-1", MARKUP, report, [], "model", "", Cost("offline", 1, 1, None))
    written = as_markdown(page, Scratch(tmp_path, "inc-1"))

    shown = r"[click\](javascript:alert(1)) \<img src=x>"
    assert written.splitlines()[0] == f"# {shown}"
    assert f"- {shown}" in written.splitlines()
    assert written.count("<img") == written.count(r"\<img") == 3
