"""The prompt cache of the double: computed from the request, never canned."""

from dataclasses import dataclass, field

import pytest

from tests.doubles.conversation import MODEL, READ, SEARCH, body, rounds, text, user
from tests.doubles.messages_api import Json, Options, Refusal, says
from tests.doubles.messages_api.service import Service
from tests.doubles.test_structure import take

FIVE_MINUTES: Json = {"type": "ephemeral"}
ONE_HOUR: Json = {"type": "ephemeral", "ttl": "1h"}
LONG = "The workflow waits for a lock. " * 200  # about 2,000 tokens


@dataclass
class Clock:
    """A clock cranked by hand."""

    seconds: float = 0.0


@dataclass
class Rig:
    """A service on a hand-cranked clock."""

    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.service = Service(Options(now=lambda: self.clock.seconds))
        self.service.responder = lambda _view: says("ok")

    def usage(self, request: Json) -> tuple[int, int, int]:
        """Fresh, read and written tokens of one call."""
        message, _ = self.service.answer(request, frozenset())
        counted = message["usage"]
        return (
            counted["input_tokens"],
            counted["cache_read_input_tokens"],
            counted["cache_creation_input_tokens"],
        )


def marked(*messages: Json, mark: Json = FIVE_MINUTES, **changes: object) -> Json:
    """A request with a breakpoint at the end of its long system prompt."""
    return body(*messages, **{"system": [text(LONG, cache_control=mark)], **changes})


def test_the_second_call_reads_what_the_first_one_wrote() -> None:
    rig = Rig()
    fresh, read, written = rig.usage(marked())
    again = rig.usage(marked(user("Another question, as long as you like")))

    assert (read, again[1], again[2]) == (0, written, 0)
    assert written > 2000 > fresh


def test_without_a_breakpoint_nothing_is_cached() -> None:
    rig = Rig()
    rig.usage(body(system=LONG))

    assert rig.usage(body(system=LONG))[1:] == (0, 0)


def test_a_prefix_under_the_minimum_is_silently_not_cached() -> None:
    rig = Rig()
    short = body(system=[text("x" * 300, cache_control=FIVE_MINUTES)])

    assert rig.usage(short)[1:] == (0, 0)


def test_a_read_within_five_minutes_keeps_the_prefix_alive() -> None:
    rig = Rig()
    rig.usage(marked())
    for _ in range(4):
        rig.clock.seconds += 299
        assert rig.usage(marked())[1] > 0

    rig.clock.seconds += 301
    assert rig.usage(marked())[1] == 0


def test_one_hour_is_one_hour_and_is_counted_apart() -> None:
    rig = Rig()
    message, _ = rig.service.answer(marked(mark=ONE_HOUR), frozenset())
    split = message["usage"]["cache_creation"]
    rig.clock.seconds = 3599

    assert split["ephemeral_1h_input_tokens"] == message["usage"]["cache_creation_input_tokens"]
    assert split["ephemeral_5m_input_tokens"] == 0
    assert rig.usage(marked(mark=ONE_HOUR))[1] > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"tools": [READ, SEARCH]},
        {"system": [text("New. " + LONG, cache_control=FIVE_MINUTES)]},
        {"model": "claude-haiku-5-5"},
    ],
    ids=["order of tools", "system", "model"],
)
def test_a_changed_prefix_is_not_read(changes: Json) -> None:
    rig = Rig()
    rig.usage(marked())

    assert rig.usage(marked(**changes))[1] == 0


def test_another_tool_choice_keeps_the_system_prompt_and_loses_the_messages() -> None:
    rig = Rig()
    question = user(text(LONG, cache_control=FIVE_MINUTES))
    _, _, written = rig.usage(marked(question))
    _, read, rewritten = rig.usage(marked(question, tool_choice={"type": "auto"}))

    assert read + rewritten == written
    assert read > 0 < rewritten


def test_a_growing_conversation_reads_up_to_the_last_breakpoint() -> None:
    rig = Rig()
    messages = rounds(3, LONG)
    rig.usage(body(*with_mark(messages)))
    longer = [*messages, *rounds(1, LONG, first=4)]
    fresh, read, written = rig.usage(body(*with_mark(longer)))

    assert read > 3 * written > 0
    assert fresh == 0


def test_a_breakpoint_looks_back_twenty_blocks_and_no_further() -> None:
    near, far = Rig(), Rig()
    messages = rounds(2, LONG)
    for rig, added in ((near, 9), (far, 10)):
        rig.usage(body(*with_mark(messages)))
        longer = [*messages, *rounds(added, "0 hits", first=3)]
        read = rig.usage(body(*with_mark(longer)))[1]
        assert (read > 0) is (rig is near)


def test_automatic_caching_marks_the_last_block() -> None:
    rig = Rig()
    messages = rounds(2, LONG)
    rig.usage(body(*messages, cache_control=FIVE_MINUTES))

    assert rig.usage(body(*messages, user("go on"), cache_control=FIVE_MINUTES))[1] > 2000


def test_all_prompt_tokens_are_counted_once() -> None:
    rig = Rig()
    request = body(*with_mark(rounds(4, LONG)), system=[text(LONG, cache_control=ONE_HOUR)])
    total = rig.service.count(
        {name: request[name] for name in ("model", "messages", "system", "tools")}, frozenset()
    )["input_tokens"]

    assert sum(rig.usage(request)) == sum(rig.usage(request)) == total


def with_mark(messages: list[Json]) -> list[Json]:
    """The messages with a breakpoint on the last block."""
    *before, last = messages
    *blocks, block = last["content"]
    return [*before, {**last, "content": [*blocks, {**block, "cache_control": FIVE_MINUTES}]}]


def test_a_fifth_breakpoint_is_refused() -> None:
    tools = [{**SEARCH, "name": f"t{n}", "cache_control": FIVE_MINUTES} for n in range(4)]

    assert take(body(tools=tools))
    with pytest.raises(Refusal, match=r"A maximum of 4 blocks.* Found 5"):
        take(marked(tools=tools))
    with pytest.raises(Refusal, match="Found 5"):
        take(body(tools=tools, cache_control=FIVE_MINUTES))


def test_a_longer_lifetime_after_a_shorter_one_is_refused() -> None:
    question = user(text("Why?", cache_control=ONE_HOUR))

    assert take(marked(question, mark=ONE_HOUR))
    with pytest.raises(Refusal, match="a ttl='1h' cache_control block must not come after"):
        take(marked(question))


@pytest.mark.parametrize("mark", [{"type": "ephemeral", "ttl": "2h"}, {"type": "persistent"}])
def test_an_unknown_lifetime_is_refused(mark: Json) -> None:
    with pytest.raises(Refusal, match="cache_control"):
        take(marked(mark=mark))


def test_a_thought_cannot_be_a_breakpoint() -> None:
    thought = {"type": "thinking", "thinking": "x", "signature": "y", "cache_control": ONE_HOUR}
    messages = [user("Why?"), {"role": "assistant", "content": [thought]}, user("And?")]

    with pytest.raises(Refusal, match="cache_control: Extra inputs are not permitted"):
        take(body(*messages, model=MODEL))
