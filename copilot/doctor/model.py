"""The model: its name and its key, neither of which is tried."""

from collections.abc import Iterator, Mapping

from copilot.credentials import secret
from copilot.doctor.check import Check, State
from copilot.errors import ConfigError, CredentialsError
from copilot.models.authorities import trusted
from copilot.settings import Settings

KEY = "ANTHROPIC_API_KEY"
KEY_START = "sk-ant-"


def model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """What would investigate, and whether it has what it needs."""
    name, base_url = settings.model.name, settings.model.base_url
    try:
        trusted(settings.model.ca)
    except ConfigError as error:
        found, _, fix = str(error).rpartition("; ")
        yield Check("model", "certificates", "fail", found, fix)
    try:
        key = secret(KEY, environ)
    except CredentialsError as error:
        yield Check("model", "key", "fail", str(error), f"set {KEY} to the key and nothing else")
        return
    is_set = any(environ.get(variable, "").strip() for variable in (KEY, f"{KEY}_FILE"))
    how = f"set {KEY}, or name its file in {KEY}_FILE"
    if key is None and not settings.model.needs_key and name != "offline":
        yield from _without_key(name, base_url)
        return
    if key is None:
        found = "a placeholder is set, not a key" if is_set else "no key is set"
        if name == "offline" or (name == "auto" and not is_set):
            yield Check("model", "model", "ok", "offline rules, not a language model")
        else:
            state: State = "warn" if name == "auto" else "fail"
            yield Check("model", "key", state, found, how)
        return
    if key.warning:
        yield Check("model", "key file", "warn", key.warning, "then no one else can read it")
    if settings.model.needs_key and not key.reveal().startswith(KEY_START):
        found = f"from {key.origin}; it does not begin with {KEY_START}"
        yield Check("model", "key", "warn", found, f"look whether it is a key for {base_url}")
    else:
        yield Check("model", "key", "ok", f"from {key.origin}; not tried")
    shown = "offline rules, though a key is set" if name == "offline" else name
    yield Check("model", "model", "ok", f"{shown} at {base_url}")


def _without_key(name: str, base_url: str) -> Iterator[Check]:
    """Another endpoint than the public one may do without a key, but its models must be named."""
    if name == "auto":
        found = f"offline rules: {base_url} is configured, and no model is named"
        yield Check("model", "model", "warn", found, "set model.name to a model that it serves")
        return
    yield Check("model", "key", "ok", f"none; {base_url} is asked without one, not tried")
    yield Check("model", "model", "ok", f"{name} at {base_url}")
