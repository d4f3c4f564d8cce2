"""The house stands: packages, floors, lazy vendors, honest documents."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from copilot import prompt
from copilot.redact import Redactor
from copilot.settings import SettingsFile
from copilot.tools.catalogue import TOOLS
from copilot.tools.registry import Registry
from copilot.values import compact

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("copilot", "connectors", "policies")
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if path.name != "__main__.py"
)


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Run *code* in a fresh interpreter, in an empty folder."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_importing_everything_reads_no_clock_prints_nothing_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    done = python(f"import importlib\nfor name in {MODULES!r}: importlib.import_module(name)")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_system_prompt_and_tools_stay_under_six_thousand_tokens() -> None:
    tools = compact(list(Registry(TOOLS, Redactor(b"key")).definitions()))

    assert (len(tools.encode()) + len(prompt.SYSTEM.encode())) / 2.5 < 6000


def test_the_tools_are_the_same_bytes_in_every_process() -> None:
    code = (
        "from copilot.tools.catalogue import TOOLS; from copilot.tools.registry import Registry;"
        "from copilot.redact import Redactor; import json;"
        "print(json.dumps(Registry(TOOLS, Redactor(b'k')).definitions()))"
    )

    first, second = python(code), python(code)

    assert first.stdout == second.stdout
    assert first.stdout


def test_every_setting_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    names = set(SettingsFile.model_fields)
    for section in ("model", "budgets", "scratch", "redaction", "daemon", "intake", "pollers"):
        inner = SettingsFile.model_fields[section].annotation
        assert inner is not None
        names |= {f"{section}.{key}" for key in inner.model_fields}
        names.discard(section)

    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_every_tool_is_named_in_the_default_policy() -> None:
    page = (ROOT / "policies" / "default.yaml").read_text()

    assert [tool.name for tool in TOOLS if f"  {tool.name}:" not in page] == []


def test_every_local_link_in_the_documents_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_no_word_that_says_nothing_names_a_module_or_a_class() -> None:
    words = re.compile(r"(memory|manager|handler|helper|util|service|processor)", re.IGNORECASE)
    classes = [
        f"{path.relative_to(ROOT)}: {name}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for name in [path.stem, *re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE)]
        if words.search(name.lower().replace("alertmanager", ""))  # Prometheus calls it so
    ]

    assert classes == []


def ids_that_are_tried() -> Iterator[str]:
    """Yield each id that a test is marked with."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.bad_input":
                yield from (ast.literal_eval(argument) for argument in node.args)


def test_every_bad_input_is_tried_or_says_why_not() -> None:
    listed = tomllib.loads((ROOT / "tests" / "bad_input.toml").read_text())
    entries = listed["inputs"].keys() | listed["reports"].keys()
    tried = set(ids_that_are_tried())

    assert sorted(entries - tried - listed["untested"].keys()) == []
    assert sorted(tried - entries) == []
    assert sorted(listed["untested"].keys() - entries) == []


def defences(page: str) -> dict[str, list[str]]:
    """Return the first cells of the tables of *page* under the headings that list defences."""
    sections = re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", page, re.MULTILINE)
    rows = {title: re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE) for title, text in sections}
    return {title: rows[title][1:] for title in ("One gate", "What a model that obeys can do")}


def test_every_defence_against_strangers_names_tests_that_exist() -> None:
    held = tomllib.loads((ROOT / "tests" / "defences.toml").read_text())
    page = (ROOT / "docs" / "explanation" / "untrusted-text.md").read_text()
    named = [test for rows in held.values() for tests in rows.values() for test in tests]

    assert {title: list(rows) for title, rows in held.items()} == defences(page)
    assert all(tests for rows in held.values() for tests in rows.values())
    assert [name for name in named if not is_test(*name.split("::"))] == []


def is_test(path: str, name: str) -> bool:
    """Return whether that file has a test of that name."""
    file = ROOT / path
    return file.is_file() and f"\ndef {name}(" in file.read_text()


def test_the_wheel_holds_the_packages_with_their_data_and_nothing_else(tmp_path: Path) -> None:
    uv = ROOT / ".uv" / "bin" / "uv"
    if not uv.is_file():
        pytest.skip("uv is not in .uv/; `make setup` puts it there")
    subprocess.run([uv, "build", "--wheel", "--quiet", "--out-dir", tmp_path, ROOT], check=True)
    [wheel] = tmp_path.glob("*.whl")

    names = zipfile.ZipFile(wheel).namelist()

    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == set(PACKAGES)
    for data in ("policies/default.yaml", "policies/off.yaml", "copilot/models/prices.yaml"):
        assert data in names
    assert any(name.startswith("copilot/demo/data/") for name in names)
