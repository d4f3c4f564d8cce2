"""Questions to stored results, as the SQL of query_scratch. Texts only."""

from copilot.models.offline.causes import CauseClass, Strength
from copilot.values import JsonObject

SHOWN = 280
"""Characters of a message that a query brings back: enough to see what it says."""
TROUBLE = (
    r"(?i)error|exception|fail|fatal|denied|refused|forbidden|unauthori|expired|invalid|timed? ?out"
    r"|time-?out|unable|cannot|could not|can.t |not found|no such|does not exist|unknown|undefined"
    r"|missing|exceed|too (many|large|long|much)|limit|quota|throttl|out of|no space|full\b|kill"
    r"|oom|abort|crash|panic|segfault|core dump|lost|evict|preempt|shut ?down|sigterm|unreachable"
    r"|no route|reset by|resolve|address change|unavailable|corrupt|mismatch|duplicate|conflict"
    r"|deadlock|lock|stuck|pending|waiting|retry|not yet|skipp|non final|hold|stale|empty|no (live"
    r"|common|free|available|response|valid)|syntax|traceback|back-?off|reject|no .{1,40} according"
    r"|fall ?back|fail ?over"
)
HEALTHY = (
    r"(?i)succe(ss|ed)|(exit|return)(ed)?[ _]?(code|status)( of)?[ :=]+0\b|status( code)?[ :=]+200"
    r"|completed (ok|normally|without)|all (done|ok|passed)"
)
GAP = "⏎"
"""Stands between the beginning and the end of an entry of several lines."""
MESSAGE = (
    f"CASE WHEN length(message) > {SHOWN} AND message LIKE '%\n%' "
    f"THEN substr(message,1,130) || '{GAP}' || substr(message,-170) "
    f"ELSE substr(message,1,{SHOWN}) END AS message"
)
BAD = f"(level IN ('FATAL','ERROR','WARN') OR message REGEXP '{TROUBLE}')"
COLUMNS = "ref, time, level, source, line"
FIRSTS_BY_SOURCE = (
    f"SELECT {COLUMNS}, min(line) AS lowest, count(*) AS count, {MESSAGE} "
    "FROM rows GROUP BY source ORDER BY count(*) DESC LIMIT 6"
)
"""The topmost entry of each source: what a person meets first who opens the file."""
PAGE = 8
OFTEN = 8
"""Lines of one kind from which a usual distance can be told."""


def of_patterns(handle: str, *, compared: bool, page: int = 0) -> JsonObject:
    """Templates of trouble, the worst levels first, then by their first time; each once."""
    baseline = ", baseline" if compared else ""
    fresh = " AND count > 4 * baseline" if compared else ""
    return {
        "handle": handle,
        "sql": f"SELECT ref, first_seen, last_seen, level, source, line, count{baseline}, "
        f"{MESSAGE}, CASE WHEN level IN ('FATAL','ERROR') THEN 0 WHEN level = 'WARN' THEN 1 "
        "ELSE 2 END AS rank, "
        f"min(rowid) AS first FROM rows WHERE {BAD}{fresh} GROUP BY template "
        f"ORDER BY rank, coalesce(first_seen, '9'), first LIMIT {PAGE} OFFSET {page * PAGE}",
        "top": PAGE,
    }


def of_entries(handle: str) -> JsonObject:
    """Entries of trouble, the first ones first."""
    return {
        "handle": handle,
        "sql": f"SELECT {COLUMNS}, {MESSAGE} FROM rows WHERE {BAD} "
        f"ORDER BY coalesce(time, '9'), source, line LIMIT {PAGE} OFFSET 0",
        "top": PAGE,
    }


def every_line(handle: str, page: int = 0) -> JsonObject:
    """All entries in the order of their files."""
    return {
        "handle": handle,
        "sql": f"SELECT {COLUMNS}, {MESSAGE} FROM rows ORDER BY source, line "
        f"LIMIT {PAGE} OFFSET {page * PAGE}",
        "top": PAGE,
    }


def health_before(handle: str, time: str) -> JsonObject:
    """What went well before *time*, the last first; and after it where nothing did."""
    return {
        "handle": handle,
        "sql": f"SELECT {COLUMNS}, {MESSAGE} FROM rows "
        f"WHERE message REGEXP '{HEALTHY}' ORDER BY coalesce(time,'') <= '{time or '9'}' DESC, "
        "time DESC LIMIT 4",
        "top": 4,
    }


def last_lines(handle: str) -> JsonObject:
    """How it ended: the last entries."""
    return {
        "handle": handle,
        "sql": f"SELECT {COLUMNS}, {MESSAGE} FROM rows ORDER BY coalesce(time,'') DESC, line DESC "
        "LIMIT 2",
        "top": 2,
    }


def of_class(handle: str, cause: CauseClass, *, compared: bool) -> JsonObject:
    """Everything that speaks of the same class of causes, the first ones first."""
    signs = [pattern.source.removeprefix("(?i)") for pattern in cause.signs[Strength.DIRECT]]
    tests = " OR ".join("message REGEXP '(?i)" + sign.replace("'", "''") + "'" for sign in signs)
    return {
        "handle": handle,
        "sql": f"SELECT {COLUMNS}, count{', baseline' * compared}, {MESSAGE} FROM rows "
        f"WHERE ({tests}){' AND count > 4 * baseline' * compared} GROUP BY template "
        f"ORDER BY coalesce(time,'9'), line LIMIT {PAGE}",
        "top": PAGE,
    }


def steady(handle: str) -> JsonObject:
    """Templates that came often, the most frequent of those that ended first."""
    return {
        "handle": handle,
        "sql": f"SELECT ref, time, first_seen, last_seen, level, source, line, count, {MESSAGE} "
        f"FROM rows WHERE count >= {OFTEN} AND first_seen IS NOT NULL GROUP BY template "
        f"ORDER BY last_seen, count DESC LIMIT {PAGE}",
        "top": PAGE,
    }
