"""A secret comes from the environment or a file, and is never shown."""

import copy
import os
import pickle
from pathlib import Path

import pytest

from copilot.credentials import secret
from copilot.errors import CredentialsError

NAME = "ANTHROPIC_API_KEY"
KEY = "sk-ant-api03-0123456789"


def key_file(tmp_path: Path, content: bytes = KEY.encode(), mode: int = 0o600) -> Path:
    path = tmp_path / NAME
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_a_secret_comes_from_its_variable_first(tmp_path: Path) -> None:
    environ = {NAME: KEY, f"{NAME}_FILE": str(key_file(tmp_path, b"other"))}

    found = secret(NAME, environ)

    assert found
    assert found.reveal() == KEY


def test_a_secret_can_be_a_file(tmp_path: Path) -> None:
    found = secret(NAME, {f"{NAME}_FILE": str(key_file(tmp_path, KEY.encode() + b"\n"))})

    assert found
    assert (found.reveal(), found.warning) == (KEY, "")


def test_a_secret_can_be_a_credential_of_systemd(tmp_path: Path) -> None:
    key_file(tmp_path)

    found = secret(NAME, {"CREDENTIALS_DIRECTORY": str(tmp_path)})

    assert found
    assert found.reveal() == KEY
    assert secret("JIRA_API_TOKEN", {"CREDENTIALS_DIRECTORY": str(tmp_path)}) is None


def test_nothing_set_is_no_secret() -> None:
    assert secret(NAME, {}) is None
    assert secret(NAME, {NAME: " ", f"{NAME}_FILE": ""}) is None


@pytest.mark.parametrize(
    "text", ["your_api_key", "YOUR-API-KEY-HERE", "<your key>", "sk-ant-...", "sk-ant-xxxxxxxx", "changeme", "${ANTHROPIC_API_KEY}", "paste_your_key_here"]
)  # fmt: skip
def test_a_placeholder_does_not_count_as_set(text: str) -> None:
    assert secret(NAME, {NAME: text.replace(" ", "-")}) is None


def test_a_secret_is_never_shown() -> None:
    found = secret(NAME, {NAME: KEY})

    assert KEY not in f"{found} {found!r} {found!s} {[found]}"
    with pytest.raises(TypeError, match="must not be stored"):
        pickle.dumps(found)
    with pytest.raises(TypeError, match="must not be stored"):
        copy.copy(found)


def test_secrets_compare_by_value() -> None:
    assert secret(NAME, {NAME: KEY}) == secret("OTHER", {"OTHER": KEY})
    assert secret(NAME, {NAME: KEY}) != secret(NAME, {NAME: KEY + "1"})


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(CredentialsError, match="is empty; it must hold the key"):
        secret(NAME, {f"{NAME}_FILE": str(key_file(tmp_path, content))})


@pytest.mark.parametrize("text", [f"{KEY}\nmore", f"{KEY} more", f"{KEY}\x1b[0m", f"{KEY}é"])
def test_what_cannot_be_a_key_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    for environ in ({NAME: text}, {f"{NAME}_FILE": str(key_file(tmp_path, text.encode()))}):
        with pytest.raises(CredentialsError, match="a key is one line") as caught:
            secret(NAME, environ)
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o602])
def test_a_file_that_everyone_can_read_is_used_with_a_warning(tmp_path: Path, mode: int) -> None:
    path = key_file(tmp_path, mode=mode)

    found = secret(NAME, {f"{NAME}_FILE": str(path)})

    assert found
    assert f"run: chmod 600 {path}" in found.warning
    assert KEY not in found.warning


def test_a_password_may_hold_blanks_and_any_letters() -> None:
    found = secret(NAME, {NAME: "grüne Wiese 7"}, is_password=True)

    assert found is not None
    assert found.reveal() == "grüne Wiese 7"


@pytest.mark.parametrize("content", [b"two\nlines", b"a\x07bell", b"latin \xe4"])
def test_a_password_is_one_line_of_text(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(CredentialsError, match="one line"):
        secret(NAME, {f"{NAME}_FILE": str(key_file(tmp_path, content))}, is_password=True)


def test_a_file_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")

    with pytest.raises(CredentialsError, match="is not a file"):
        secret(NAME, {f"{NAME}_FILE": str(tmp_path / "fifo")})
    with pytest.raises(CredentialsError, match="cannot be read"):
        secret(NAME, {f"{NAME}_FILE": str(tmp_path / "none")})
    with pytest.raises(CredentialsError, match="far too large"):
        secret(NAME, {f"{NAME}_FILE": str(key_file(tmp_path, b"x" * 20_000))})
