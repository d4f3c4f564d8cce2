"""`copilot config`: the settings that hold here, where each comes from, and are they right."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from copilot.cli.options import as_json
from copilot.cli.session import Session, pass_session

if TYPE_CHECKING:
    from copilot.values import Json, JsonObject


@click.group("config")
def command() -> None:
    """Show and check the settings."""


@command.command("show")
@click.option("--origin", is_flag=True, help="Also where each value comes from.")
@as_json
@pass_session
def show(session: Session, origin: bool, as_json: bool) -> None:
    """Show every setting that holds here, defaults included. Keys are never among them."""
    from copilot.config import origins

    settings = session.workspace.settings
    data = settings.model_dump(mode="json", exclude={"workspace", "file"})
    where = origins(session.config, session.environ, session.cwd)
    rows = [(key, _shown(value), where(key)) for key, value in _flat(data)]
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.settings/1",
                "file": str(settings.file) if settings.file else None,
                "workspace": str(settings.workspace),
                "settings": data,
                "origins": {key: origin for key, _, origin in rows},
            }
        )
        return
    session.screen.say(f"file: {settings.file or 'none was found; these are the defaults'}")
    if origin:
        session.screen.table(
            ("KEY", "FROM", "VALUE"), [(key, by, shown) for key, shown, by in rows]
        )
    else:
        session.screen.table(("KEY", "VALUE"), [(key, shown) for key, shown, _ in rows])


@command.command("check")
@pass_session
def check(session: Session) -> None:
    """Check the settings and the policy in use; each problem is a line `file:line: key: what`."""
    workspace = session.workspace
    policy = workspace.policy
    session.screen.say(f"{workspace.settings.file or 'the defaults'}: right")
    session.screen.say(f"policy {policy.name}: right")


@command.command("schema")
@pass_session
def schema(session: Session) -> None:
    """Print the JSON schema of copilot.yaml, by which editors complete and check it."""
    from copilot.config import editor_schema

    session.screen.document(editor_schema())


def _flat(value: "JsonObject", prefix: str = "") -> "Iterator[tuple[str, Json]]":
    """Each setting by its dotted key."""
    for key, inner in value.items():
        if isinstance(inner, dict) and inner:
            yield from _flat(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", inner


def _shown(value: "Json") -> str:
    from copilot.values import compact

    return value if isinstance(value, str) else compact(value)
