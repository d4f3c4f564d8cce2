"""What is remembered of texts has a bound in bytes, not in their number alone."""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import pytest

from copilot.artifacts import find_artifacts
from copilot.intake.fields import instant
from copilot.models.offline.causes import sign_of

TEXTS = 200
LONG = 100_000
LITTLE = 2 << 20
"""Bytes: a tenth of all the long texts together."""
VARIED_TEXTS = """
from pathlib import Path
from random import Random
from copilot.redact import Redactor

SIGNS = (
    "password token secret bearer authorization key aws AKIA ghp_ https://user: ssh-rsa BEGIN "
    "PRIVATE eyJ xoxb- sk- basic session cookie api_key passwd pwd"
).split()
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_.:@ '{}[]"
random = Random(1)

def word():
    if random.random() < 0.3:
        return random.choice(SIGNS)
    return "".join(random.choices(LETTERS, k=random.randint(1, 20)))

def resident_mib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

redactor = Redactor(bytes(32))
before = resident_mib()
for _ in range(10_000):
    redactor.redact(random.choice(["", " ", "=", ":", "_", "-"]).join(word() for _ in range(random.randint(1, 12))))
print(resident_mib() - before)
"""


def kept_of_long_texts(look_at: Callable[[str], object]) -> int:
    """Return the bytes that stay in use after *look_at* has seen many long texts."""
    look_at("2026-11-30")  # what is made once does not count
    tracemalloc.start()
    for number in range(TEXTS):
        look_at(f"{number:03}{'x' * LONG}")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept


@pytest.mark.parametrize("look_at", [find_artifacts, instant, sign_of])
def test_nothing_is_kept_of_a_text_beyond_what_is_looked_at(
    look_at: Callable[[str], object],
) -> None:
    assert kept_of_long_texts(look_at) < LITTLE


def test_the_redactor_stays_small_whatever_the_texts_that_it_meets() -> None:
    told = subprocess.run(
        [sys.executable, "-c", VARIED_TEXTS], capture_output=True, text=True, check=True
    )

    assert float(told.stdout) < 20
