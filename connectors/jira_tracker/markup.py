"""Plain text as the body of a Jira comment, so that nothing in it acts: no link, image or mention.

Lines between two lines of three backticks are code. Cloud gets a document, in which text is only
ever text; Data Center gets wiki text inside `{noformat}`, where no other markup is read. No text
node is empty: Jira refuses a document that has one.
"""

import re

from connectors.jira_tracker.replies import Json
from copilot.safe_text import safe_text

FENCE = re.compile(r"\s*```\w*\s*")
CLOSES = re.compile(r"\{(?=\s*noformat)", re.IGNORECASE)


def document(text: str) -> Json:
    """The text as an ADF document: a paragraph for each run of lines, a code block for code."""
    content = [_code(block) if is_code else _paragraph(block) for block, is_code in _blocks(text)]
    return {"type": "doc", "version": 1, "content": content}


def wiki(text: str) -> str:
    """The text as wiki text that shows it as it stands."""
    return f"{{noformat}}\n{CLOSES.sub('{ ', safe_text(text)).strip()}\n{{noformat}}"


def closed(text: str) -> str:
    """The text with its last block of code ended, so that what follows is not part of it."""
    fences = sum(FENCE.fullmatch(line) is not None for line in safe_text(text).split("\n"))
    return f"{text}\n```" if fences % 2 else text


def _blocks(text: str) -> list[tuple[list[str], bool]]:
    """The blocks of lines that hold something, and whether each is code."""
    blocks: list[tuple[list[str], bool]] = [([], False)]
    for line in safe_text(text).split("\n"):
        is_code = blocks[-1][1]
        if FENCE.fullmatch(line):
            blocks.append(([], not is_code))
        elif line.strip() or is_code:
            blocks[-1][0].append(line.rstrip())
        else:
            blocks.append(([], False))
    return [(lines, is_code) for lines, is_code in blocks if any(lines)]


def _paragraph(lines: list[str]) -> Json:
    content: list[Json] = []
    for line in lines:
        content += [{"type": "hardBreak"}] if content else []
        content.append({"type": "text", "text": line})
    return {"type": "paragraph", "content": content}


def _code(lines: list[str]) -> Json:
    return {"type": "codeBlock", "content": [{"type": "text", "text": "\n".join(lines)}]}
