"""Questions to stored results, as the SQL of query_scratch. Texts only."""

import re

from copilot.models.offline.causes import Strength
from copilot.models.offline.dossier import Line
from copilot.values import JsonObject

SHOWN = 300
"""Characters of a message that a query brings back: enough to see what it says."""
TROUBLE = (
    r"(?i)error|exception|fail|fatal|denied|refused|forbidden|unauthori|expired|invalid|timed? ?out"
    r"|time-?out|unable|cannot|could not|can.t |not found|no such|does not exist|unknown|undefined"
    r"|missing|exceed|too (many|large|long|much)|limit|quota|throttl|out of|no space|full\b|kill|oom"
    r"|abort|crash|panic|segfault|core dump|lost|evict|preempt|shut ?down|sigterm|unreachable"
    r"|no route|reset by|resolve|address change|unavailable|corrupt|mismatch|duplicate|conflict"
    r"|deadlock|lock|stuck|pending|waiting|retry|not yet|skipp|non final|hold|stale|empty|no (live"
    r"|common|free|available|response|valid)|syntax|traceback|back-?off|reject|no .{1,40} according"
)
HEALTHY = (
    r"(?i)succe(ss|ed)|(exit|return)(ed)?[ _]?(code|status)( of)?[ :=]+0\b|status( code)?[ :=]+200"
    r"|completed (ok|normally|without)|all (done|ok|passed)"
)
COLUMNS = "ref, time, level, source, line"
FIRSTS_BY_SOURCE = (
    f"SELECT {COLUMNS}, min(line) AS lowest, count(*) AS count, substr(message,1,{SHOWN}) AS message "
    "FROM rows GROUP BY source ORDER BY count(*) DESC LIMIT 6"
)
"""The topmost entry of each source: what a person meets first who opens the file."""
ACTION = re.compile(r"[A-Za-z][A-Za-z_'-]*[A-Za-z]")


def of_trouble(handle: str, *, patterns: bool, compared: bool) -> JsonObject:
    """Entries with bad levels or words of trouble, the first ones first; each template once."""
    columns = COLUMNS
    if patterns:
        columns += ", count, first_seen, last_seen, in_sources" + (", baseline" if compared else "")
    bad = f"(level IN ('FATAL','ERROR','WARN') OR message REGEXP '{TROUBLE}')"
    new = " AND coalesce(count,0) > 4 * coalesce(baseline,0)" if patterns and compared else ""
    group = " GROUP BY template" if patterns else ""
    first = ", min(rowid) AS first" if patterns else ""
    when = "first_seen" if patterns else "time"
    rank = (
        "CASE WHEN level IN ('FATAL','ERROR') THEN 0 WHEN level = 'WARN' THEN 1 ELSE 2 END"
        if patterns
        else "0"
    )
    return {
        "handle": handle,
        "sql": f"SELECT {columns}, substr(message,1,{SHOWN}) AS message, {rank} AS bad{first} FROM rows "
        f"WHERE {bad}{new}{group} ORDER BY bad, coalesce({when}, time, '9'), source, line "
        "LIMIT 12 OFFSET 0",
        "top": 12,
    }


def every_line(handle: str) -> JsonObject:
    """All entries in the order of their files."""
    return {
        "handle": handle,
        "sql": f"SELECT {COLUMNS}, substr(message,1,{SHOWN}) AS message FROM rows "
        "ORDER BY source, line LIMIT 20 OFFSET 0",
        "top": 20,
    }


def health_before(handle: str, time: str) -> JsonObject:
    """What went well before *time*, the last first; and after it where nothing did."""
    return {
        "handle": handle,
        "sql": f"SELECT {COLUMNS}, substr(message,1,{SHOWN}) AS message FROM rows "
        f"WHERE message REGEXP '{HEALTHY}' ORDER BY coalesce(time,'') <= '{time or '9'}' DESC, "
        "time DESC LIMIT 4",
        "top": 4,
    }


def phrase_of(line: Line) -> str:
    """Up to six words in a row that say what the line says and its like say too; else empty."""
    text = line.telling
    start = _start_of_sign(line, text)
    runs = [
        (match.start(), match[0])
        for match in re.finditer(r"[A-Za-z][A-Za-z'-]*(?: [A-Za-z][A-Za-z'-]*){1,7}", text)
    ]
    if not runs:
        return ""
    place, best = min(runs, key=lambda run: (_distance(run, start), -len(run[1])))
    words = best.split(" ")[:6]
    return f'"{" ".join(words)}"' if len(best) > 6 and place >= 0 else ""


def _distance(run: tuple[int, str], start: int) -> int:
    place, words = run
    return (
        0
        if place <= start < place + len(words)
        else min(abs(place - start), abs(place + len(words) - start))
    )


def _start_of_sign(line: Line, text: str) -> int:
    sign = line.sign
    if sign.cause is None:
        return len(text)
    for pattern in sign.cause.signs.get(sign.strength, ()):
        span = pattern.span(text)
        if span:
            return span[0]
    return 0 if sign.strength is Strength.NONE else len(text)
