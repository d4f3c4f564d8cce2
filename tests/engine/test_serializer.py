"""What the engine stores is JSON, comes back equal, and never runs anything."""

import pytest
from dbos import Serializer
from hypothesis import given
from hypothesis import strategies as st

from copilot.engine.serializer import LONGEST, JsonSerializer, RecordedError
from copilot.errors import ConnectorError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture(scope="module")
def serializer() -> Serializer:
    return JsonSerializer()


@given(value=json_values)
def test_any_json_comes_back_equal(value: object) -> None:
    assert JsonSerializer().deserialize(JsonSerializer().serialize(value)) == value


@given(text=st.text())
def test_a_stored_text_has_no_character_that_a_database_refuses(text: str) -> None:
    stored = JsonSerializer().serialize({"text": text + "\x00\ud800"})

    stored.encode()
    assert "\x00" not in stored


def test_an_error_comes_back_with_its_name_its_text_and_whether_to_try_again(
    serializer: Serializer,
) -> None:
    error = serializer.deserialize(serializer.serialize(ConnectorError("away", retryable=True)))

    assert isinstance(error, RecordedError)
    assert (error.kind, str(error), error.retryable) == ("ConnectorError", "away", True)
    again = serializer.deserialize(serializer.serialize(error))
    assert (again.kind, str(again), again.retryable) == ("ConnectorError", "away", True)


def test_any_error_can_be_stored_and_a_long_one_is_cut(serializer: Serializer) -> None:
    error = serializer.deserialize(serializer.serialize(ValueError("x" * 10_000, object())))

    assert (error.kind, error.retryable, len(str(error))) == ("ValueError", False, LONGEST)


def test_what_is_no_json_is_refused(serializer: Serializer) -> None:
    with pytest.raises(TypeError):
        serializer.serialize({"a": object()})
