"""An entry of others' indices, from the search that finds it to the citation that stands for it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from copilot.models.model import ToolCall
from copilot.report.citations import cite
from copilot.tools.registry import Ran
from tests.bench import Bench, made_workspace
from tests.connectors.opensearch.test_foreign import DATE, TEXT, Server, minute, server
from tests.doubles.scripted_model import ScriptedModel

__all__ = ["server"]


def test_an_entry_without_a_line_is_cited_and_looked_around_by_its_id(
    server: Server, tmp_path: Path
) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT},
        *({"@timestamp": minute(n), "message": f"step {n} done"} for n in range(1, 6)),
    )  # fmt: skip
    book = server.book()

    with Bench(made_workspace(tmp_path / "ws")).work(ScriptedModel(())) as (work, _):
        case = replace(work.case, logbooks={"app": book})

        def ask(tool: str, **arguments: Any) -> str:
            prepared = work.registry.prepare(ToolCall("t1", tool, arguments))
            ran = prepared if isinstance(prepared, Ran) else work.registry.run(prepared, case)
            return case.scratch.put(ran.outcome.rows, tool=tool, arguments=arguments).handle

        found = ask("search_logbook", text='"step 3"')
        citation = cite(f"{found}:1", "step 3 done", case.scratch)
        around = ask("logbook_context", reference=f"{found}:1", before=1, after=1)
        messages = [case.scratch.row(around, n)["message"] for n in (1, 2, 3)]

    assert (citation.line, citation.source) == (0, server.prefix + "a")
    assert citation.place() == citation.document
    index, _, name = citation.document.partition("/")
    kept = server.call("GET", f"{index}/_doc/{name}")
    assert kept["_source"]["message"] == "step 3 done"
    assert messages == ["step 2 done", "step 3 done", "step 4 done"]
