"""Real answers of a real node, played back where there is none."""

from typing import Any

import pytest

from tests.connectors.opensearch.cassettes import NOON, QUESTIONS, cassette, play


def played(name: str) -> Any:
    with cassette(name) as tape:
        answer = play(QUESTIONS[name])
        assert tape.all_played
    return answer


def test_a_search_is_read_from_a_real_answer() -> None:
    found = played("search")

    [entry] = found.entries
    assert (entry.source, entry.line, entry.level) == ("app.log", 11, "ERROR")
    assert entry.message.endswith("store-7 refused job-1")
    assert found.coverage.complete


def test_an_overview_counts_what_a_real_answer_says() -> None:
    seen = played("overview")

    assert [(bucket.count, bucket.errors) for bucket in seen.buckets] == [(8, 0), (4, 2)]
    assert seen.levels == (("ERROR", 2), ("INFO", 10))
    assert seen.first == NOON.replace(microsecond=250)


def test_the_other_questions_are_read_from_real_answers() -> None:
    assert [p.template for p in played("patterns").rose] == [
        "ERROR a.B: store-<n> refused job-<n>", "INFO a.B: step <n> done",
    ]  # fmt: skip
    assert [field.name for field in played("fields").fields] == ["level", "source", "component"]
    assert [entry.line for entry in played("context").entries] == [10, 11, 12]
    assert [entry.line for entry in played("trace").entries] == [12]
    assert [(row.value, row.count) for row in played("latest").rows] == [("a.B", 12)]


def test_a_real_refusal_is_put_in_words() -> None:
    assert "there is no such index" in played("no_such_index")


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_address_of_the_recording_is_kept(name: str) -> None:
    from tests.connectors.opensearch.cassettes import FOLDER

    assert "127.0.0.1" not in (FOLDER / f"{name}.yaml").read_text()
