"""Made-up logbooks as operators have them: one incident, and the louder troubles of others."""

import json
from datetime import timedelta

from .made_up import START, MadeUp, alert, log, usual

Told = list[tuple[float, str]]


def payroll(*, since: int = 0) -> Told:
    """A program that is refused access all day long, and says so loudly."""
    return usual("payroll", "slip {n} printed", until=90) + [
        (n / 4, f"ERROR [payroll] slip {n}: access denied to /srv/slips/p{n}.pdf")
        for n in range(since * 4, 360)
    ]


def mailer(*, since: int = 0) -> Told:
    """A program whose certificate has expired, fatal at each try."""
    return usual("mailer", "letter {n} queued", until=90) + [
        (n / 5, "FATAL [mailer] handshake with smarthost failed: certificate has expired")
        for n in range(since * 5, 450)
    ]


def router() -> Told:
    """The program that the alert is about, quiet next to the others."""
    return (
        usual("router", "parcel p{n} routed", until=41)
        + [(41.2 + n, "ERROR [router] could not acquire lock on table routes") for n in range(5)]
        + [(41.4 + n, "WARN [router] parcel is routed late, giving up") for n in range(5)]
    )


def stalled(minute: float | None = None) -> dict[str, object]:
    """The alert about the router."""
    return alert("ParcelsStalled: no parcel is routed", minute=minute, service="router")


def three_files() -> MadeUp:
    """Three programs, each with its own file; two of them fail all the time."""
    files = {
        "router.log": log(router()),
        "payroll.log": log(payroll()),
        "mailer.log": log(mailer()),
    }
    return MadeUp(
        "three_files", files, stalled(45), "lock", ("acquire lock",), ("denied", "expired")
    )


def without_a_time() -> MadeUp:
    """The same, and the alert does not say when."""
    return MadeUp(
        "without_a_time",
        three_files().files,
        stalled(),
        "lock",
        ("acquire lock",),
        ("denied", "expired"),
    )


def same_minute() -> MadeUp:
    """The others begin to fail in the very minute: they are as new, and as little to do with it."""
    files = {
        "router.log": log(router()),
        "payroll.log": log(payroll(since=41)),
        "mailer.log": log(mailer(since=41)),
    }
    return MadeUp(
        "same_minute", files, stalled(45), "lock", ("acquire lock",), ("denied", "expired")
    )


def one_stream() -> MadeUp:
    """The same three programs in one file of JSON lines, told apart by a field."""

    def rows(service: str, told: Told) -> list[tuple[float, str]]:
        return [(minute, _json(minute, service, text)) for minute, text in told]

    every = rows("router", router()) + rows("payroll", payroll()) + rows("mailer", mailer())
    text = "".join(f"{row}\n" for _, row in sorted(every))
    return MadeUp(
        "one_stream",
        {"all.jsonl": text},
        stalled(45),
        "lock",
        ("acquire lock",),
        ("denied", "expired"),
    )


def _json(minute: float, service: str, text: str) -> str:
    level, _, message = text.partition(" ")
    at = (START + timedelta(minutes=minute)).isoformat()
    message = message.partition("] ")[2]
    return json.dumps({"ts": at, "level": level.lower(), "service": service, "msg": message})


def shared_host() -> MadeUp:
    """The cause stands in the log of a program that the alert does not name; a host ties them."""
    asking = usual("router", "parcel p{n} routed", until=41) + [
        (41.5 + n, "ERROR [router] no answer from vault-7 for the route table, attempt failed")
        for n in range(8)
    ]
    vault = usual("vault", "vault-7 wrote page {n}", until=41) + [
        (41.1 + n, "ERROR [vault] vault-7 cannot write page: No space left on device")
        for n in range(3)
    ]
    files = {
        "router.log": log(asking),
        "storage/pages.log": log(vault),
        "payroll.log": log(payroll()),
        "mailer.log": log(mailer(since=30)),
    }
    return MadeUp(
        "shared_host", files, stalled(45), "full", ("No space left",), ("denied", "expired")
    )


def shared_service() -> MadeUp:
    """The caller names the service that failed; that one's own log says why."""
    asking = usual("router", "parcel p{n} routed", until=41) + [
        (41.5 + n, "ERROR [router] call to tariffs failed with status 503") for n in range(8)
    ]
    tariffs = [
        *usual("rates", "tariff {n} looked up", until=41),
        (41.1, "FATAL [rates] cannot allocate memory for the price table"),
    ]
    files = {
        "router.log": log(asking),
        "tariffs.log": log(tariffs),
        "payroll.log": log(payroll()),
        "mailer.log": log(mailer()),
    }
    return MadeUp(
        "shared_service", files, stalled(45), "memory", ("allocate memory",), ("denied", "expired")
    )


def not_here() -> MadeUp:
    """An alert about a program whose log is missing, among the errors of others."""
    return MadeUp(
        "not_here_among_others",
        {"payroll.log": log(payroll()), "mailer.log": log(mailer())},
        alert("IndexStalled: no document indexed", minute=45, service="bookindex"),
        "Not in these logs",
        (),
        ("denied", "expired"),
        ("inconclusive",),
        ("",),
    )


def named_in_words() -> MadeUp:
    """The same, and only the words of the alert name what it is about."""
    return MadeUp(
        "named_in_words",
        {"payroll.log": log(payroll()), "mailer.log": log(mailer())},
        alert("Stalled: workflow book_index_nightly does not go on since 2031-05-06 07:40"),
        "Not in these logs",
        (),
        ("denied", "expired"),
        ("inconclusive",),
        ("",),
    )


def healthy_here() -> MadeUp:
    """The alert's program is there and says nothing of trouble: that of others is not its own."""
    files = {
        "router.log": log(usual("router", "parcel p{n} routed", until=90)),
        "payroll.log": log(payroll()),
        "mailer.log": log(mailer()),
        "depot.log": log(usual("depot", "gate {n} opened", until=90)),
    }
    return MadeUp(
        "healthy_here", files, stalled(45), "", (), ("denied", "expired"), ("inconclusive",), ("",)
    )


def years_apart() -> MadeUp:
    """The same program failed years ago by another cause."""
    old = "".join(
        f"2028-02-03 04:{n:02d}:00,000 ERROR [router] could not resolve host name depot.invalid\n"
        for n in range(20)
    )
    return MadeUp(
        "years_apart",
        {"router.log": old + log(router()), "payroll.log": log(payroll())},
        stalled(45),
        "lock",
        ("acquire lock",),
        ("resolve", "denied"),
    )


def plain_word() -> MadeUp:
    """The alert's pod has the name of a common word, which others use for parts of their code."""
    chatty = [
        (n / 3, "ERROR [depot.net.Client] Client could not resolve host name depot.invalid")
        for n in range(270)
    ]
    own = "2031-05-06 07:{:02d}:00,000 ERROR cannot read the price file: permission denied\n"
    files = {
        "pods/shop-ns-4/client.txt": "".join(own.format(n) for n in range(40, 44)),
        "depot.log": log(chatty),
        "payroll.log": log(usual("payroll", "slip {n} printed", until=90)),
        "mailer.log": log(mailer()),
    }
    return MadeUp(
        "plain_word",
        files,
        alert("PodFailing", minute=45, pod="client", namespace="shop-ns-4"),
        "Access is denied",
        ("price file",),
        ("resolve", "expired"),
    )


def nobody_named() -> MadeUp:
    """An alert that names nothing and no time fits no trouble better than another."""
    files = {f"{name}/out.log": log(usual(name, "step {n} done", until=90)) for name in "abcde"}
    return MadeUp(
        "nobody_named",
        files | {"f/out.log": log([(n, "ERROR [f] checksum mismatch in tile") for n in range(20)])},
        alert("Things are slow: please look"),
        "",
        (),
        (),
        ("inconclusive",),
        ("possible", ""),
    )


FOREIGN = ("payroll", "mailer", "slip", "smarthost", "depot.invalid")
"""What must be in no claim of the cause or of what followed."""
MIXED = tuple(
    make()
    for make in (
        three_files,
        without_a_time,
        same_minute,
        one_stream,
        shared_host,
        shared_service,
        not_here,
        named_in_words,
        healthy_here,
        years_apart,
        plain_word,
        nobody_named,
    )
)
