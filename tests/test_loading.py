"""Claims about the loading of large libraries."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from copilot.loading import load


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module that says whether garbage was searched for while it was loaded."""
    name = "loaded_by_a_test"
    (tmp_path / f"{name}.py").write_text("import gc\nSEARCHED = gc.isenabled()\nKEPT = [{}]\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)
    gc.unfreeze()


def test_what_is_loaded_is_searched_neither_then_nor_later(module: str) -> None:
    load(module)

    assert not sys.modules[module].SEARCHED
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_only_the_first_time_sets_aside_what_is_there(module: str) -> None:
    load(module)
    gc.unfreeze()

    load(module)

    assert gc.get_freeze_count() == 0


def test_a_module_that_cannot_be_loaded_leaves_the_collector_on(module: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        load(f"no_{module}")

    assert gc.isenabled()
