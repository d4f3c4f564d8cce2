"""How severe a line says that it is, in the six words of the logbook."""

import re

LEVELS = ("", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""From the mildest to the worst; the place of a level is how a store may order by it."""

WORDS = {
    "fatal": "FATAL", "critical": "FATAL", "crit": "FATAL", "emerg": "FATAL", "emergency": "FATAL",
    "panic": "FATAL", "alert": "FATAL",
    "error": "ERROR", "err": "ERROR", "severe": "ERROR", "failure": "ERROR",
    "warning": "WARN", "warn": "WARN",
    "info": "INFO", "information": "INFO", "informational": "INFO", "notice": "INFO",
    "normal": "INFO",
    "debug": "DEBUG", "trace": "TRACE", "verbose": "TRACE",
}  # fmt: skip
LETTERS = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
TENS = {"10": "TRACE", "20": "DEBUG", "30": "INFO", "40": "WARN", "50": "ERROR", "60": "FATAL"}
"""The numbers of the JSON loggers that count in tens."""

HEAD = 110
"""Characters after the time in which a level may stand."""
_SHOUTED = (
    r"FATAL|CRITICAL|CRIT|EMERG|SEVERE|ERROR|ERR|FAILURE|WARNING|WARN|NOTICE|INFO|DEBUG|TRACE"
)
SHOUTED = re.compile(rf"(?<![\w./-])(?:{_SHOUTED})(?![\w./-])")
_ANY_CASE = r"fatal|critical|error|err|warning|warn|notice|info|debug|trace"
MARKED = re.compile(
    rf"[\[<(](?P<a>{_ANY_CASE})[\])>]|\b(?:level|severity|lvl)[\"']?\s*[=:]\s*[\"']?(?P<b>[a-z]+)"
    rf"|^\W{{0,12}}(?P<c>{_ANY_CASE})\s*:",
    re.IGNORECASE,
)
OPENING = re.compile(
    rf"(?:[\d\W_TZ]{{0,40}}[\W_])?(?P<word>(?:{_SHOUTED})(?![\w./])|(?:Error|Fatal)\b)"
)
"""A level at the very start, perhaps after digits: a time of day, or a time read from elsewhere."""
KUBERNETES = re.compile(r"\s*(?:\S+(?: \(x\d+ over \S+\))?\s{2,})?(?P<word>Normal|Warning)\s{2,}\S")
"""A row of `kubectl get events` or of the events that `kubectl describe` lists."""
KLOG = re.compile(r"([IWEF])\d{4} ")


def level_of_word(word: str) -> str:
    """The level that *word* stands for, or an empty string."""
    text = word.strip()
    return WORDS.get(text.casefold()) or TENS.get(text) or ""


def find_level(text: str, start: int, *, timed: bool) -> tuple[str, int]:
    """The level that the line names, and where its word ends; an empty one ends at *start*.

    *start* is where the line's time ends, 0 when it has none.
    """
    if timed:
        match = SHOUTED.search(text, start, start + HEAD)
        if match:
            return WORDS[match[0].lower()], match.end()
        klog = KLOG.match(text)
        if klog:
            return LETTERS[klog[1]], start
    else:
        match = OPENING.match(text) or KUBERNETES.match(text)
        if match:
            return WORDS[match["word"].lower()], match.end()
    marked = MARKED.search(text, 0, start + HEAD)
    if marked:
        level = level_of_word(next(filter(None, marked.groups())))
        return level, max(start, marked.end())
    return "", start
