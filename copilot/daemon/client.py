"""The daemon of a workspace, asked over HTTP by the command line of the same machine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import httpx2

from copilot.daemon.doorplate import Doorplate
from copilot.errors import CopilotError, CredentialsError, NotFoundError, UsageError
from copilot.values import JsonObject, text_at

TIMEOUT_S = 30.0
ERRORS: Mapping[int, type[CopilotError]] = {
    400: UsageError,
    401: CredentialsError,
    404: NotFoundError,
}


@dataclass(frozen=True, slots=True)
class Client:
    """A running daemon."""

    plate: Doorplate

    def get(self, path: str, **query: str) -> JsonObject:
        """The answer to GET. Raises CopilotError with the daemon's own words."""
        return self._asked("GET", path, None, query)

    def post(self, path: str, body: JsonObject) -> JsonObject:
        """The answer to POST. Raises CopilotError with the daemon's own words."""
        return self._asked("POST", path, json.dumps(body).encode(), {})

    def send(self, path: str, body: bytes, **query: str) -> JsonObject:
        """The answer to POST of JSON as it came."""
        return self._asked("POST", path, body, query)

    def _asked(
        self, method: str, path: str, body: bytes | None, query: Mapping[str, str]
    ) -> JsonObject:
        try:
            answer = httpx2.request(
                method,
                f"{self.plate.url}{path}",
                params=query,
                content=body,
                headers={
                    "Authorization": f"Bearer {self.plate.token}",
                    "Content-Type": "application/json",
                },
                timeout=TIMEOUT_S,
                trust_env=False,
                follow_redirects=False,
            )
            found = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise CopilotError(
                f"the daemon at {self.plate.url} (process {self.plate.pid}) did not answer "
                f"({type(error).__name__}); its log says why"
            ) from error
        if not isinstance(found, dict):
            raise CopilotError(f"the daemon at {self.plate.url} gave no JSON object")
        if answer.status_code >= 300:
            said = text_at(found, "error") or f"it answered {answer.status_code}"
            raise ERRORS.get(answer.status_code, CopilotError)(f"the daemon refused: {said}")
        return cast("JsonObject", found)
