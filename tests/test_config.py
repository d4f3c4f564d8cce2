"""Settings come from one file and named overrides; every mistake is named by its line."""

from datetime import timedelta
from pathlib import Path

import pytest

from copilot.config import editor_schema, find_file, load_settings
from copilot.errors import ConfigError
from copilot.settings import AlertRule, Settings, Source
from copilot.settings.logbook import EmbeddedLogbookSource

REPOSITORY = Path(__file__).resolve().parents[1]


def settings(tmp_path: Path, text: str = "", **environ: str) -> Settings:
    (tmp_path / "copilot.yaml").write_text(text, encoding="utf-8")
    return load_settings(None, environ, tmp_path)


def mistake(tmp_path: Path, text: str = "", **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        settings(tmp_path, text, **environ)
    return str(caught.value)


def test_an_empty_file_holds_the_defaults(tmp_path: Path) -> None:
    found = settings(tmp_path, "# nothing yet\n")

    assert (found.model.name, found.policy, found.budgets.usd) == ("auto", "default", 5.0)
    assert found.budgets.wall_time == timedelta(minutes=30)
    assert found.ignore_alerts[0].fits({"alertname": "Watchdog", "severity": "none"})


def test_without_a_file_the_folder_is_the_workspace(tmp_path: Path) -> None:
    found = load_settings(None, {}, tmp_path)

    assert (found.file, found.workspace) == (None, tmp_path)
    assert found.notes == tmp_path / "notes"


def test_the_repository_is_itself_a_workspace() -> None:
    found = load_settings(None, {}, REPOSITORY)

    assert found.file == REPOSITORY / "copilot.yaml"
    assert found.scratch.path == REPOSITORY / "scratch"
    assert load_settings(REPOSITORY / "copilot.yaml", {}, Path("/")) == found


def test_every_path_is_below_the_workspace_or_absolute(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        "notes: /srv/notes\nlogbooks:\n- {name: a, path: x/a.sqlite}\nscratch: {path: bulk}",
    )

    assert found.notes == Path("/srv/notes")
    assert isinstance(found.logbooks[0], EmbeddedLogbookSource)
    assert found.logbooks[0].path == tmp_path / "x/a.sqlite"
    assert found.scratch.path == tmp_path / "bulk"
    assert isinstance(found.trackers[0], Source)
    assert found.trackers[0].path == tmp_path / "state/tickets.sqlite"
    assert found.policies == tmp_path / "policies"


def test_a_policy_is_a_name_or_a_file(tmp_path: Path) -> None:
    assert settings(tmp_path, "policy: mine").policy == "mine"
    assert settings(tmp_path, "policy: own/mine.yaml").policy == str(tmp_path / "own/mine.yaml")
    assert "copilot.yaml:1: policy: should match pattern" in mistake(tmp_path, "policy: ../etc")


@pytest.mark.parametrize("path", ["../notes", "a/../../b", "~/notes"])
def test_a_relative_path_cannot_leave_the_workspace(tmp_path: Path, path: str) -> None:
    assert f"copilot.yaml:2: notes: '{path}' leaves the workspace" in mistake(
        tmp_path, f"policy: off\nnotes: {path}"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("modle: {}", "copilot.yaml:1: modle: unknown key. Did you mean model?"),
        ("budgets:\n  turns: no", "copilot.yaml:2: budgets.turns: 'no' is not a whole number"),
        ("budgets:\n  turns: 010", "copilot.yaml:2: budgets.turns: '010' is not a whole number"),
        ("budgets:\n  turns: 0", "copilot.yaml:2: budgets.turns: should be greater than or equal to 1, not 0"),
        ("budgets:\n  wall_time: 1:30", "budgets.wall_time: '1:30' is not a duration; write one like 90s, 15m"),
        ("redaction:\n  emails: yes", "copilot.yaml:2: redaction.emails: 'yes' is not true or false"),
        ("model: {effort: lots}", "copilot.yaml:1: model.effort: 'lots' is not auto or low or medium"),
        ("trackers:\n- name: t\n  path: x\n  kind: trac", "copilot.yaml:4: trackers.0.kind: 'trac' is not embedded or jira"),
        ("trackers:\n- name: t", "copilot.yaml:2: trackers.0.path: is required"),
        ("- a", "copilot.yaml:1: must be keys with values"),
        ("logbooks:\n- name: a\n  path: x\n  masks: [{pattern: '(?=x)', name: T}]", "masks.0.pattern: the pattern '(?=x)' is refused"),
        ("logbooks:\n- {name: a, path: x}\n- {name: a, path: y}", "logbooks: two are called a"),
        ("ignore_alerts:\n- {labels: {}, reason: x}", "ignore_alerts.0.labels:"),
        ("model: {api_key: sk-ant-1}", "copilot.yaml:1: model.api_key: unknown key"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_line_and_way_out(tmp_path: Path, text: str, problem: str) -> None:
    assert problem in mistake(tmp_path, text)


def test_a_key_written_into_the_settings_is_not_printed(tmp_path: Path) -> None:
    assert "sk-ant-1234" not in mistake(tmp_path, "model: {api_key: sk-ant-1234}")


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    found = mistake(tmp_path, "budgets:\n  turns: x\n  usd: x\nnote: y")

    assert [line.split(": ")[0] for line in found.splitlines()] == [
        "copilot.yaml:2", "copilot.yaml:3", "copilot.yaml:4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("file:///etc/passwd", "must start with https://"),
        ("https://user:pw@host/", "must not hold credentials"),
        ("http://models.example.org", "plain http to 'models.example.org'"),
        ("http://169.254.169.254/latest", "link-local ones are refused"),
        ("https://169.254.169.254/latest", "link-local ones are refused"),
        ("http://[::ffff:169.254.169.254]/", "link-local ones are refused"),
        ("https://2852039166/", "is no name of a host"),
        ("https://0xa9fea9fe/", "is no name of a host"),
        ("https://0.0.0.0:80", "link-local ones are refused"),
        ("http://127.0.0.1.nip.io", "plain http to '127.0.0.1.nip.io'"),
        ("https://host:port/", "this is no address"),
        ("https://host/?x=1", "ends with its path"),
        ("https://", "must start with https://"),
    ],
)
@pytest.mark.bad_input("B83")
def test_an_address_that_could_leak_the_key_is_refused(
    tmp_path: Path, url: str, problem: str
) -> None:
    found = mistake(tmp_path, f"model:\n  base_url: '{url}'")

    assert found.startswith("copilot.yaml:2: model.base_url: ")
    assert problem in found
    assert "pw" not in found


@pytest.mark.parametrize(
    "url",
    ["https://api.example.org/v1/", "http://127.0.0.1:8080", "http://[::1]:80", "http://localhost"],
)
def test_https_and_this_machine_are_allowed(tmp_path: Path, url: str) -> None:
    found = settings(tmp_path, f"model: {{base_url: '{url}'}}").model.base_url

    assert found == url.rstrip("/")


def test_the_environment_overrides_single_values(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        "model: {name: auto, effort: low}",
        COPILOT_MODEL__NAME="offline",
        COPILOT_BUDGETS__TURNS="7",
        COPILOT_POLICY="off",
        COPILOT_TOKEN="of another product",
    )

    assert (found.model.name, found.model.effort) == ("offline", "low")
    assert (found.budgets.turns, found.policy) == (7, "off")


def test_options_override_the_environment(tmp_path: Path) -> None:
    (tmp_path / "copilot.yaml").write_text("model: {name: auto}")

    found = load_settings(
        None, {"COPILOT_MODEL__NAME": "offline"}, tmp_path, {"model.name": "claude-sonnet-5-5"}
    )

    assert found.model.name == "claude-sonnet-5-5"


def test_a_wrong_override_is_named_by_its_variable(tmp_path: Path) -> None:
    assert mistake(tmp_path, COPILOT_BUDGETS__TURNS="many") == (
        "$COPILOT_BUDGETS__TURNS: budgets.turns: 'many' is not a whole number"
    )
    assert mistake(tmp_path, COPILOT_BUDGETS__TRUNS="3").startswith(
        "$COPILOT_BUDGETS__TRUNS: budgets.truns: unknown key. Did you mean turns?"
    )
    assert mistake(tmp_path, COPILOT_MODLE__NAME="x").startswith(
        "$COPILOT_MODLE__NAME: no section 'modle'. Did you mean model?"
    )


def test_the_first_file_wins_whole(tmp_path: Path) -> None:
    here, xdg, named = (tmp_path / name for name in ("here", "xdg", "named"))
    for folder in (here, xdg / "copilot", named):
        folder.mkdir(parents=True)
        (folder / "copilot.yaml").write_text("")
    environ = {"XDG_CONFIG_HOME": str(xdg), "COPILOT_CONFIG": str(named)}

    assert find_file(here, environ, tmp_path) == here / "copilot.yaml"
    assert find_file(None, environ, here) == named / "copilot.yaml"
    assert find_file(None, {"XDG_CONFIG_HOME": str(xdg)}, here) == here / "copilot.yaml"
    assert find_file(None, {"XDG_CONFIG_HOME": str(xdg)}, tmp_path) == xdg / "copilot/copilot.yaml"


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none.yaml: there is no such file \(--config\)"):
        find_file(Path("none.yaml"), {}, tmp_path)
    with pytest.raises(ConfigError, match=r"there is no such file \(\$COPILOT_CONFIG\)"):
        find_file(None, {"COPILOT_CONFIG": "none.yaml"}, tmp_path)


def test_an_alert_is_ignored_only_when_every_label_fits() -> None:
    rule = AlertRule(labels={"alertname": "Watchdog", "env": "test"}, reason="r")

    assert rule.fits({"alertname": "Watchdog", "env": "test", "more": "x"})
    assert not rule.fits({"alertname": "Watchdog"})


def test_editors_get_a_schema_with_every_key_described() -> None:
    schema = editor_schema()

    assert schema["additionalProperties"] is False
    assert "policies" in str(schema["properties"])
    assert "auto leaves it to the model" in str(schema)
