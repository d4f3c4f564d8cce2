"""What was shown is told apart from what a model wrote; what matters is told by what was done."""

from copilot.sightings import Sightings, Weight


def test_an_identifier_that_only_a_model_wrote_was_never_shown() -> None:
    sightings = Sightings()

    sightings.weigh('{"text": "OPS-404"}', "R0001", Weight.ARGUMENT)

    assert "OPS-404" not in sightings.values


def test_what_was_shown_and_then_used_matters_and_keeps_its_first_place() -> None:
    sightings = Sightings()
    sightings.see("ticket", "OPS-7", "R0003:2")

    sightings.weigh("OPS-7", "R0009", Weight.ARGUMENT)

    [item] = sightings.important()
    assert (item.value, item.reference, item.count) == ("OPS-7", "R0003:2", 2)


def test_the_heaviest_reason_wins_and_leads() -> None:
    sightings = Sightings()
    sightings.see("ticket", "OPS-1", "alert", Weight.ALERT)
    sightings.see("ticket", "OPS-2", "R0001:1")
    for weight in (Weight.CITED, Weight.ARGUMENT):
        sightings.weigh("OPS-2", "R0001", weight)

    assert [(item.value, item.weight) for item in sightings.important()] == [
        ("OPS-1", Weight.ALERT),
        ("OPS-2", Weight.CITED),
    ]
