"""The strict double of the Messages API, and the words to script it with."""

from tests.doubles.messages_api.connection import Received
from tests.doubles.messages_api.refusal import Json, Refusal
from tests.doubles.messages_api.script import (
    HTML,
    TRUNCATED,
    Bytes,
    Cut,
    Drip,
    Reset,
    Status,
    calls,
    says,
    stops,
    thinks,
)
from tests.doubles.messages_api.server import MessagesApi
from tests.doubles.messages_api.service import Options

__all__ = [
    "HTML",
    "TRUNCATED",
    "Bytes",
    "Cut",
    "Drip",
    "Json",
    "MessagesApi",
    "Options",
    "Received",
    "Refusal",
    "Reset",
    "Status",
    "calls",
    "says",
    "stops",
    "thinks",
]
