"""Atlassian Document Format as plain text that a person can read and a search can find.

Tolerant by design: the format grows, and exports hold broken nodes. A node that is not known
leaves `[its type]` and the text below it; nothing raises, whatever the JSON. Identifiers are not
escaped, and marks are dropped, except links (their address follows) and struck-out text.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias, cast

from copilot.window import from_epoch

Node: TypeAlias = dict[str, object]

DEEPEST = 60
"""Levels that are laid out. Below that only the text is kept: no depth can overflow the stack."""
INLINE = {"text", "hardBreak", "mention", "emoji", "date", "status", "inlineCard", "mediaInline"}
APART = {"mention", "date", "inlineCard"}
"""What an editor shows as a box: written right after a word it would change that word."""


def adf_text(document: object) -> str:
    """The text of *document*, which may be any JSON value. Blocks are on lines of their own."""
    return _stacked(_blocks(document, 0))


def _blocks(content: object, depth: int) -> list[str]:
    """The texts of the blocks in *content*; inline nodes side by side make one block."""
    if depth > DEEPEST:
        return [" ".join(_texts(content))]
    blocks: list[str] = []
    line: list[str] = []
    for node in content if isinstance(content, list) else [content]:
        text = _text(node, depth + 1)
        kind = _kind(node) if isinstance(node, dict) else "text"
        if kind in INLINE:
            glued = line and kind in APART and line[-1][-1:].isalnum()
            line.append(f" {text}" if glued else text)
            continue
        blocks += ["".join(line), text] if line else [text]
        line = []
    return [*blocks, "".join(line)] if line else blocks


def _text(node: object, depth: int) -> str:
    match node:
        case None:
            return ""
        case dict():
            known = cast("Node", node)
            inside = [known[part] for part in ("text", "content") if known.get(part) is not None]
            blocks = [block for part in inside for block in _blocks(part, depth)]
            if series := SERIES.get(_kind(known)):
                return series(known, blocks)
            layout = LAYOUTS.get(_kind(known), _unknown)
            return _marked(known, layout(known, _stacked(blocks)))
        case list():
            return _stacked(_blocks(node, depth))
        case _:
            return str(node)


def _texts(content: object) -> Iterable[str]:
    """Every text in *content*, in order, found without recursion."""
    pending = [content]
    while pending:
        match pending.pop():
            case str() as text:
                yield text
            case list() as nodes:
                pending.extend(reversed(nodes))
            case dict() as node:
                pending += [node.get("content"), node.get("text")]


def _kind(node: Node) -> str:
    kind = node.get("type", "")
    return kind if isinstance(kind, str) else "unknown"


def _attribute(node: Node, *names: str) -> str:
    """The first of the named attributes that has a value, as text; else empty."""
    attributes = node.get("attrs")
    values = [attributes.get(name) for name in names] if isinstance(attributes, dict) else []
    return next((str(v) for v in values if isinstance(v, str | int | float) and v != ""), "")


def _number(node: Node, name: str, otherwise: int) -> int:
    text = _attribute(node, name)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else otherwise


def _stacked(blocks: Iterable[str]) -> str:
    return "\n".join(block for block in blocks if block)


def _hanging(first: str, text: str) -> str:
    """The text after *first*, its other lines indented to stand below."""
    return first + text.replace("\n", "\n" + " " * len(first))


def _marked(node: Node, text: str) -> str:
    marks = node.get("marks")
    for mark in marks if isinstance(marks, list) else []:
        if not isinstance(mark, dict):
            continue
        address = _attribute(mark, "href")
        if _kind(mark) == "link" and address not in {"", text}:
            text = f"{text} ({address})"
        elif _kind(mark) == "strike":
            text = f"~~{text}~~"
    return text


def _unknown(node: Node, inside: str) -> str:
    mark = f"[{_kind(node)}]" if _kind(node) else ""
    label = _attribute(node, "title", "text", "name", "url", "extensionKey")
    return " ".join(part for part in (mark, label, inside) if part)


def _date(node: Node, inside: str) -> str:
    """The day; what is no day, and the end of time (year 9999), as it stands."""
    raw = _attribute(node, "timestamp")
    try:
        time = from_epoch(float(raw) / 1000)
    except ValueError:
        time = None
    return (raw if time is None or time.year == 9999 else time.date().isoformat()) + inside


def _card(node: Node, inside: str) -> str:
    attributes = node.get("attrs")
    data = attributes.get("data") if isinstance(attributes, dict) else None
    linked = _attribute(node, "url") or _attribute({"attrs": data}, "url", "name")
    return (linked or f"[{_kind(node)}]") + inside


def _media(node: Node, inside: str) -> str:
    named = [_attribute(node, "alt", "__fileName"), _attribute(node, "url", "id")]
    return f"[{' '.join(['media', *filter(None, named)])}]{inside}"


def _heading(node: Node, inside: str) -> str:
    return "#" * min(max(_number(node, "level", 1), 1), 6) + " " + inside


def _numbered(node: Node, items: list[str]) -> str:
    first = _number(node, "order", 1)
    return _stacked(_hanging(f"{number}. ", item) for number, item in enumerate(items, first))


def _task(node: Node, inside: str) -> str:
    return _hanging("[x] " if _attribute(node, "state") == "DONE" else "[ ] ", inside)


LAYOUTS: dict[str, Callable[[Node, str], str]] = {
    **dict.fromkeys(("doc", "paragraph", "text", "listItem", "table"), lambda _, inside: inside),
    **dict.fromkeys(("tableCell", "tableHeader", "caption"), lambda _, inside: inside),
    **dict.fromkeys(("layoutSection", "layoutColumn"), lambda _, inside: inside),
    **dict.fromkeys(("mediaSingle", "mediaGroup"), lambda _, inside: inside),
    **dict.fromkeys(("media", "mediaInline"), _media),
    **dict.fromkeys(("inlineCard", "blockCard", "embedCard"), _card),
    **dict.fromkeys(
        ("expand", "nestedExpand"),
        lambda node, inside: _stacked([_attribute(node, "title"), _hanging("  ", inside)]),
    ),
    **dict.fromkeys(("taskList", "decisionList"), lambda _, inside: _hanging("  ", inside)),
    "hardBreak": lambda _, inside: "\n" + inside,
    "mention": lambda node, inside: (
        "@" + (_attribute(node, "text", "id") or "unknown").removeprefix("@") + inside
    ),
    "emoji": lambda node, inside: _attribute(node, "text", "shortName", "id") + inside,
    "date": _date,
    "status": lambda node, inside: f"[{_attribute(node, 'text')}]{inside}",
    "heading": _heading,
    "blockquote": lambda _, inside: "> " + inside.replace("\n", "\n> "),
    "panel": lambda node, inside: f"[{_attribute(node, 'panelType') or 'panel'}] {inside}",
    "taskItem": _task,
    "decisionItem": lambda _, inside: _hanging("[decision] ", inside),
    "rule": lambda _, inside: _stacked(["---", inside]),
}
"""From a node and the text inside it to the node's text."""

SERIES: dict[str, Callable[[Node, list[str]], str]] = {
    "bulletList": lambda _, items: _stacked(_hanging("- ", item) for item in items),
    "orderedList": _numbered,
    "codeBlock": lambda node, lines: "\n".join(
        [f"```{_attribute(node, 'language')}", *(lines or [""]), "```"]
    ),
    "tableRow": lambda _, cells: f"| {' | '.join(c.replace(chr(10), ' / ') for c in cells)} |",
}
"""The same for nodes whose blocks are told apart."""
