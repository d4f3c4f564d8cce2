"""The one way the double says no: a status and the body that the real service sends."""

from typing import Any

Json = dict[str, Any]


class Refusal(Exception):
    """A request that the real service would refuse, with the text it would give."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        type: str = "invalid_request_error",
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.code = code
        self.headers = headers or {}

    def body(self, request_id: str) -> Json:
        """The JSON body of the error answer."""
        return {"type": "error", "error": self.error(), "request_id": request_id}

    def error(self) -> Json:
        """The error object alone, as an `error` event inside a stream carries it."""
        error: Json = {"type": self.type, "message": self.message}
        if self.code:
            error["details"] = {"error_code": self.code}
        return error


def extra(path: str) -> Refusal:
    """The refusal of a field that is not part of the API, or needs a beta that was not sent."""
    return Refusal(f"{path}: Extra inputs are not permitted")


def wrong_tag(path: str, tag: object) -> Refusal:
    """The refusal of a block or an edit of an unknown type."""
    return Refusal(
        f"{path}: Input tag {tag!r} found using 'type' does not match any of the expected tags"
    )
