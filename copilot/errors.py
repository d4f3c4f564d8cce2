"""Every error that a person or the model may read. One root, a few named branches.

A message states what was tried, on what, and what to do next; it never holds a secret or a
result's body. Whoever knows whether trying again makes sense sets `retryable`.
"""


class CopilotError(Exception):
    """The root. `exit_code` is what the command line leaves with when nothing else catches it."""

    exit_code = 1
    retryable = False


class UsageError(CopilotError):
    """The person asked for something that cannot be: a bad argument, an unknown name."""

    exit_code = 2


class ConfigError(CopilotError):
    """A settings or policy file is wrong. The message starts with `file:line: key:`."""

    exit_code = 2


class NotFoundError(CopilotError):
    """What was named does not exist here: an incident, a handle, a ticket."""

    exit_code = 4


class CredentialsError(CopilotError):
    """A key is missing or was refused. Trying again will not help; a person must act."""

    exit_code = 4


class SenderError(CopilotError):
    """Who sent a request did not prove who it is. Only this says anything of the sender's keys."""

    exit_code = 4


class ConnectorError(CopilotError):
    """A logbook, tracker or library did not answer, or refused. Never means "nothing found"."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class ImportRefusedError(ConnectorError):
    """A file could not be imported; nothing of it was kept."""


class ScratchError(CopilotError):
    """An offloaded result cannot be stored or read. The text tells the model what to do."""


class NotesError(CopilotError):
    """The notes repository refused a read or a write; the old notes are untouched."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class EngineError(CopilotError):
    """The durable queue cannot be opened, read or written; what it acknowledged is kept."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class EngineHeldError(EngineError):
    """Another daemon has the state folder."""

    exit_code = 3


class InboxError(CopilotError):
    """The inbox could not keep or read what it was asked to; of a batch, nothing was promised."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class OutboxError(CopilotError):
    """A draft cannot be kept, read or decided on now; what is in the outbox is untouched."""


class PatternError(CopilotError):
    """A pattern is not RE2. The text names the part and a way round it."""


class ModelError(CopilotError):
    """The model's service did not give a usable answer.

    `kind` says why in one word: `auth`, `billing`, `spend_cap`, `rate_limit`, `overloaded`,
    `too_long`, `invalid`, `refused`, `network`, `failed` (the service says so, and bills nothing),
    `broken` (an answer that cannot be used and may be billed). `wait_s` is what the service asked
    for.
    """

    def __init__(
        self, message: str, *, kind: str, retryable: bool = False, wait_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.wait_s = wait_s


class LimitReached(CopilotError):
    """A budget is used up. `limit` names it: `turns`, `tokens`, `usd`, `wall_time`."""

    exit_code = 5

    def __init__(self, message: str, *, limit: str) -> None:
        super().__init__(message)
        self.limit = limit
