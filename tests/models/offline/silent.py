"""Made-up programs that stop without an error line."""

from .made_up import MadeUp, alert, log, usual
from .mixed import mailer, stalled


def stops() -> MadeUp:
    """The router writes nothing more; the depot goes on, the mailer fails as it always does."""
    files = {
        "router.log": log(usual("router", "parcel p{n} routed", until=41)),
        "depot.log": log(usual("depot", "gate {n} opened", until=90)),
        "mailer.log": log(mailer()),
    }
    return MadeUp(
        "stops",
        files,
        stalled(60),
        "stopped after 2031-05-06T07:40:00Z; no error line says why",
        ("parcel p1040 routed",),
        ("expired",),
        ("inconclusive",),
        ("possible",),
    )


def still_alive() -> MadeUp:
    """The router goes on to say that it lives, and routes nothing."""
    told = usual("router", "parcel p{n} routed", until=41) + usual("router", "alive", until=90)
    files = {"router.log": log(told), "depot.log": log(usual("depot", "gate {n} opened", until=90))}
    return MadeUp(
        "still_alive",
        files,
        stalled(),
        "stopped after 2031-05-06T07:40:00Z",
        ("parcel p1040 routed",),
        ("alive",),
        ("inconclusive",),
        ("possible",),
    )


def goes_on() -> MadeUp:
    """Everything goes on at its usual rate."""
    files = {
        "router.log": log(usual("router", "parcel p{n} routed", until=90)),
        "depot.log": log(usual("depot", "gate {n} opened", until=90)),
    }
    alerted = alert("ParcelsLate", minute=60, service="router")
    return MadeUp("goes_on", files, alerted, "", (), ("stopped",), ("inconclusive",), ("",))


def finished() -> MadeUp:
    """The whole log ends: that somebody stopped cannot be told from that."""
    files = {"router.log": log(usual("router", "parcel p{n} routed", until=41))}
    return MadeUp("finished", files, stalled(), "", (), ("stopped",), ("inconclusive",), ("",))


SILENT = (stops(), still_alive(), goes_on(), finished())
