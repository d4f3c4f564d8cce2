"""A document in pieces is still the whole document, and every piece can be found in the file."""

from hypothesis import given
from hypothesis import strategies as st

from connectors.document_pieces import LIMIT, Piece, markdown_pieces, plain_pieces

LINES = st.sampled_from(
    ["", " ", "# One", "## Two", "### Three", "text", "```", "~~~", "---", "x" * 400, "y" * 2000]
)
DOCUMENTS = st.lists(LINES, max_size=60).map("\n".join) | st.text(max_size=200)


def test_headings_lead_to_a_piece_and_bare_ones_stay_with_the_next() -> None:
    pieces = markdown_pieces("# Guide\n\n## Disk\nclean up\n\n## Net ##\nping\n# End\n")

    assert pieces == [
        Piece(("Guide", "Disk"), 1, "# Guide\n\n## Disk\nclean up"),
        Piece(("Guide", "Net"), 6, "## Net ##\nping"),
        Piece(("End",), 8, "# End"),
    ]


def test_a_hash_in_a_code_fence_is_no_heading() -> None:
    pieces = markdown_pieces("# Run\n```sh\n# not a heading\nls\n```\n# Next\nx")

    assert [piece.headings for piece in pieces] == [("Run",), ("Next",)]


def test_a_plain_text_has_no_headings() -> None:
    assert plain_pieces("# a comment\nx = 1") == [Piece((), 1, "# a comment\nx = 1")]


def test_a_long_section_is_cut_between_paragraphs() -> None:
    paragraph = "\n".join(["word " * 12] * 9)
    pieces = markdown_pieces("# Long\n" + "\n\n".join([paragraph] * 6))

    assert len(pieces) > 1
    assert all(piece.headings == ("Long",) for piece in pieces)
    assert all(piece.text.endswith(paragraph) for piece in pieces)


def test_front_matter_names_the_document_and_a_broken_one_is_text() -> None:
    named = markdown_pieces("---\nname: my-runbook\n---\n# Do\nthis")
    broken = markdown_pieces("---\nname: [\n---\n# Do\nthis")
    bomb = markdown_pieces("---\n" + "[" * 1200 + "\n---\n# Do\nthis")

    assert [piece.headings for piece in named] == [("my-runbook",), ("my-runbook", "Do")]
    assert [piece.headings for piece in broken] == [(), ("Do",)]
    assert bomb[-1].headings == ("Do",)


@given(DOCUMENTS)
def test_no_line_is_lost_or_moved_and_no_piece_is_too_long(text: str) -> None:
    for pieces in (markdown_pieces(text), plain_pieces(text)):
        lines = text.split("\n")
        words = "".join("".join(piece.text.split()) for piece in pieces)
        assert words == "".join(text.split())
        for piece in pieces:
            assert 0 < len(piece.text) <= LIMIT
            assert piece.text.split("\n")[0] in lines[piece.line - 1]
