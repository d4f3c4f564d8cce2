"""Claims about forty kinds of secrets, whatever stands around them. benchmarks/redaction.py counts more."""

import json
from pathlib import Path
from random import Random

import pytest

from connectors.embedded_library import EmbeddedLibrary
from copilot.redact import TOKEN, Redactor
from tests.redaction_kinds import (
    BASE64,
    FRAMES,
    KINDS,
    cases,
    in_pieces,
    in_records,
    is_read,
    needed,
    some,
)

REDACTOR = Redactor(b"a key of one workspace", emails=True)


def test_there_are_forty_kinds_and_five_frames() -> None:
    assert (len({kind.name for kind in KINDS}), len(FRAMES)) == (40, 5)


@pytest.mark.bad_input("B69")
def test_no_kind_of_secret_can_be_read_in_any_frame() -> None:
    read = [
        f"{kind.name}/{frame}"
        for kind, frame, planted, text in cases(Random(1), 2)
        if is_read(planted.secret, REDACTOR.redact(text))
    ]

    assert read == []


def test_a_benchmark_that_sees_nothing_would_be_noticed() -> None:
    assert all(is_read(planted.secret, text) for _, _, planted, text in cases(Random(1), 1))


@pytest.mark.bad_input("B70")
def test_no_kind_of_secret_can_be_read_where_its_text_is_cut() -> None:
    read = [
        f"{kind.name}/{frame}"
        for kind, frame, planted, text in cases(Random(2), 1)
        for cut in (in_pieces, in_records)
        if is_read(planted.secret, cut(text, REDACTOR.redact))
    ]

    assert read == []


def test_redacting_twice_is_redacting_once() -> None:
    for _, _, _, text in cases(Random(3), 1):
        once = REDACTOR.redact(text)
        assert REDACTOR.redact(once) == once


def test_json_stays_json() -> None:
    for _, frame, _, text in cases(Random(4), 1):
        if frame == "json":
            assert json.loads(REDACTOR.redact(text))["host"] == "node-7"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.bad_input("B69")
def test_hashes_uuids_job_ids_and_times_are_never_masked(seed: int) -> None:
    masked = [text for text in needed(Random(seed)) if REDACTOR.redact(text) != text]

    assert masked == []


@pytest.mark.bad_input("B70")
def test_a_line_of_a_key_in_a_record_of_its_own_is_masked() -> None:
    line = some(Random(5), BASE64, 64)

    assert TOKEN.fullmatch(REDACTOR.redact(line))
    assert REDACTOR.redact(f"10:00:01 {line}").startswith("10:00:01 <secret:pem:")


@pytest.mark.parametrize(
    "line",
    [
        "/data/srv/Run2017E/SinglePhoton/UL2017/MiniAODv2BParking/00001/a",
        "0123456789abcdef" * 4,
        "0123456789ABCDEF" * 4,
        "TheQuickBrownFoxJumpsOverTheLazyDogAndRunsIntoTheForestBehindItX",
    ],
)
def test_a_path_a_hash_or_a_name_of_that_length_stays(line: str) -> None:
    assert len(line) == 64
    assert REDACTOR.redact(line) == line


def test_what_a_url_hides_in_escapes_is_seen_and_its_other_escapes_stay() -> None:
    text = "GET /login?next=https%3A%2F%2Fbob%3A" + "hunter2hunter2%40h%2Fx%3Fa%3Db 302"

    redacted = REDACTOR.redact(text)

    assert "hunter2" not in redacted
    assert redacted.startswith("GET /login?next=https%3A%2F%2Fbob%3A<secret:url:")
    assert redacted.endswith(">%40h%2Fx%3Fa%3Db 302")


def test_an_escape_at_the_end_of_a_secret_goes_with_it() -> None:
    redacted = REDACTOR.redact("x?password=" + "hunter2%21%23&y=1")

    assert redacted.startswith("x?password=<secret:password:")
    assert redacted.endswith(">&y=1")


@pytest.mark.bad_input("B088")
def test_a_library_keeps_no_secret_of_the_documents_it_takes_in(tmp_path: Path) -> None:
    secret = "hunter2" + "hunter2"
    (tmp_path / "books").mkdir()
    page = tmp_path / "books" / "login.md"
    page.write_text(f"# Log in\n\n{'word ' * 298}password: {secret} and so on\n")
    library = EmbeddedLibrary(tmp_path / "books.sqlite", redact=REDACTOR.redact)

    library.import_folder(page.parent)

    assert library.import_folder(page.parent).unchanged == 1
    assert secret.encode() not in (tmp_path / "books.sqlite").read_bytes()
    assert any("<secret:" in chunk.text for chunk in library.search("word password", 9).chunks)
