"""The one gate for texts from outside: what is secret is masked, what is hidden is shown.

Every answer of a tool passes it before the model, the disk and git get any of it, and so does all
that the first message quotes. Scratch holds what passed, so that a quote is found as it was read.
"""

from functools import partial

from copilot.redact import Redactor
from copilot.safe_text import safe_text
from copilot.values import JsonT, with_texts


def screened(value: JsonT, redactor: Redactor) -> JsonT:
    """The JSON value with every text and every key screened; what names a secret masks it."""
    return with_texts(
        redactor.redact_json(value), _shown, partial(screened_text, redactor=redactor)
    )


def screened_text(text: str, redactor: Redactor) -> str:
    """One text: masked first, since half a secret with an escape in it looks like none."""
    return _shown("", redactor.redact(text))


def _shown(_: str, text: str) -> str:
    """Line ends of Windows are line ends; a lone one overwrites a line, and is shown."""
    return safe_text(text.replace("\r\n", "\n"))
