"""One client a model for all investigations of a daemon, behind a breaker.

A hundred investigations share connections, waits are short because the queue can wait longer than
a thread should, and every attempt is counted.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock

from copilot import assembly
from copilot.daemon.breaker import Breaker
from copilot.errors import CredentialsError, ModelError
from copilot.models.model import Json, Model, Request, Response
from copilot.models.retries import Attempt, Retries
from copilot.workspace import Workspace

Counted = Callable[[str, str], None]
"""Takes a model's name and how an attempt ended."""


@dataclass(frozen=True, slots=True)
class GuardedModel:
    """A model that is not asked while its breaker is open. Safe to share between threads."""

    model: Model
    breaker: Breaker

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    def respond(self, request: Request) -> Response:
        """The answer. Raises ModelError, at once while the breaker is open."""
        if not self.breaker.admits():
            raise ModelError(
                f"{self.name} is not asked for a while: {self.breaker.reason}", kind="overloaded"
            )
        try:
            with self.breaker.asking():
                response = self.model.respond(request)
        except ModelError as error:
            self.breaker.failed(error.kind, str(error), error.wait_s)
            raise
        self.breaker.succeeded(self.name)
        return response

    def count_tokens(self, request: Request) -> int | None:
        """The service's count, or None."""
        return self.model.count_tokens(request) if self.breaker.is_well else None

    def describe(self) -> Json | None:
        """What the service says of the model, or None."""
        describe = getattr(self.model, "describe", None)
        if not describe or not self.breaker.may_try:
            return None
        with self.breaker.asking():
            found: Json | None = describe()
        return found


@dataclass
class SharedModels:
    """The models of a daemon, each made when it is first asked for."""

    count: Counted = lambda *_: None
    monotonic: Callable[[], float] = time.monotonic
    _breakers: dict[str, Breaker] = field(default_factory=dict)
    _models: dict[tuple[object, ...], GuardedModel] = field(default_factory=dict)
    _open: list[AbstractContextManager[Model]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def breaker(self, workspace: Workspace) -> Breaker:
        """The breaker of the service that this workspace's model is asked at."""
        settings = workspace.settings
        pause_s = settings.daemon.model_pause.total_seconds()
        return self._breakers.setdefault(settings.model.base_url, Breaker(self.monotonic, pause_s))

    @contextmanager
    def model_for(
        self, workspace: Workspace, on_attempt: Callable[[Attempt], None]
    ) -> Iterator[Model]:
        """The shared model of *workspace*; rules are made anew. Raises CredentialsError."""
        name = assembly.model_name(workspace)
        if name == assembly.OFFLINE:
            with assembly.model_for(workspace, on_attempt) as model:
                yield model
            return
        settings = workspace.settings.model
        key = name, settings.base_url, settings.timeout_s, settings.proxy, settings.ca
        with self._lock:
            if key not in self._models:
                self._models[key] = self._made(name, workspace)
            model = self._models[key]
        yield model

    def answered(self, workspace: Workspace) -> float:
        """When the model of *workspace* answered anybody last, by our clock; 0 before that."""
        return self.breaker(workspace).answered(assembly.model_name(workspace))

    def make_ready(self, workspace: Workspace) -> None:
        """Make the model now, which loads its library; without a key, it is made when there is one.

        Loading takes seconds of one processor: in the first flood, senders would wait for it.
        Raises ConfigError for settings with which every investigation would fail.
        """
        with suppress(CredentialsError), self.model_for(workspace, lambda _: None):
            pass

    def close(self) -> None:
        """Give the connections back."""
        for model in self._open:
            model.__exit__(None, None, None)

    def _made(self, name: str, workspace: Workspace) -> GuardedModel:
        breaker = self.breaker(workspace)

        def attempted(attempt: Attempt) -> None:
            self.count(name, attempt.kind)
            if attempt.kind != "ok":
                breaker.failed(attempt.kind)

        source = assembly.model_for(workspace, attempted, retries=_retries())
        guarded = GuardedModel(source.__enter__(), breaker)
        self._open.append(source)
        return guarded


def _retries() -> Retries:
    """Few tries and short waits: about a quarter of a minute before the queue waits instead."""
    return Retries(sleep=time.sleep, random=random.random, tries=5, longest_backoff_s=6.0)
