"""Untrusted text as one line of Markdown that shows what was written and is never markup.

No link, image, heading or HTML can come out of what a model or a log wrote: EchoLeak-style images
are fetched by whoever renders a page. Everything here has an exact way back.
"""

import re

PUNCTUATION = r"!-/:-@\[-`{-~"
"""The ASCII signs that a backslash escapes in Markdown (CommonMark 2.4)."""

ACTIVE = re.compile(
    rf"\\(?=[{PUNCTUATION}\n])"  # a backslash that would escape
    r"|<(?=[A-Za-z/!?])"  # HTML and autolinks
    r"|\](?=[(\[:])"  # links, images and link definitions
    r"|\A[#>+~=|`*-]"  # headings, quotes, rules, lists, fences
)
ACTIVE_LABEL = re.compile(f"{ACTIVE.pattern}|`")
WRITTEN = re.compile(rf"\\([{PUNCTUATION}])|<br>")
LABEL = re.compile(r"(?:\\.|[^`\\]|\\$)*")
SPAN = re.compile(r"(`+)(?!`)(.*?[^`])\1(?!`)")


def prose(text: str) -> str:
    """The text as one line of Markdown; line breaks become `<br>`. `read_prose` is the way back."""
    return ACTIVE.sub(r"\\\g<0>", text).replace("\n", "<br>")


def read_prose(written: str) -> str:
    """The text that `prose` wrote."""
    return WRITTEN.sub(lambda match: match[1] or "\n", written)


def label(text: str) -> str:
    """As `prose`, without a bare backtick: a code span may follow. Read it with `split_label`."""
    return ACTIVE_LABEL.sub(r"\\\g<0>", text).replace("\n", "<br>")


def split_label(written: str) -> tuple[str, str]:
    """The text of the label that *written* starts with, and what follows it."""
    match = LABEL.match(written)
    end = match.end() if match else 0
    return read_prose(written[:end]).strip(), written[end:]


def span(text: str) -> str:
    """The text, which has one line and no space at its ends, as a code span."""
    runs = re.findall("`+", text)
    fence = "`" * (max(map(len, runs), default=0) + 1)
    pad = " " if not text or text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad if text else ''}{fence}"


def split_span(written: str) -> tuple[str, str] | None:
    """The text of the code span that *written* starts with, and what follows; None without one."""
    match = SPAN.match(written)
    return (match[2].strip(" "), written[match.end() :]) if match else None
