"""What is made of a sub-investigation's words."""

from copilot.findings import sections


def test_an_answer_in_another_form_or_too_long_is_kept_and_said_so() -> None:
    plain, doubt = sections("It is the host.")
    long, cut = sections("FINDINGS\n" + "\n".join(f"- {'word ' * 50}" for _ in range(12)))

    assert plain == ["It is the host."]
    assert "form" in doubt[0]
    assert sum(len(line.split()) for line in long) == 400
    assert cut == ["the answer was cut at 400 words"]


def test_headings_may_be_marked_up() -> None:
    assert sections("**FINDINGS:** one\n- two\n## Uncertain\nthree") == (["one", "two"], ["three"])
