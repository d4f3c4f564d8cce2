"""Forty kinds of secrets in five frames, put together at run time so that no scanner finds one here.

A secret leaks when eight characters of it in a row can still be read, after colour codes and the
escapes of a URL are undone. What an investigation needs stands in the same frames and must stay.
"""

import base64
import json
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from urllib.parse import quote, unquote

from connectors.document_pieces import LIMIT, plain_pieces

Redact = Callable[[str], str]

UPPER = string.ascii_uppercase + string.digits
MIXED = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE64 = f"{MIXED}+/"
ODD = f"{MIXED}!$#@*._-"
READABLE = 8
COLOUR = re.compile(r"\x1b\[[\d;]*m")


@dataclass(frozen=True, slots=True)
class Planted:
    """A value as logs show it, and what of it is secret."""

    value: str
    secret: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of secret; `word` is the name that such a value goes by."""

    name: str
    word: str
    make: Callable[[Random], Planted]


def some(random: Random, alphabet: str, length: int) -> str:
    """That many characters of the alphabet, the last ones a letter and a digit."""
    return "".join(random.choices(alphabet, k=length - 2)) + "a7"


def _key(name: str, start: str, alphabet: str, length: int, word: str = "value") -> Kind:
    """A kind that is known by how it begins."""

    def make(random: Random) -> Planted:
        body = some(random, alphabet, length)
        body = body.upper() if alphabet == UPPER else body
        return Planted(start + body, body)

    return Kind(name, word, make)


def _of_parts(name: str, word: str, text: str, alphabet: str, length: int) -> Kind:
    """A kind whose secret stands at the `{}` of *text*."""

    def make(random: Random) -> Planted:
        secret = some(random, alphabet, length)
        return Planted(text.format(secret), secret)

    return Kind(name, word, make)


def _pem(name: str, label: str, lines: int) -> Kind:
    def make(random: Random) -> Planted:
        body = "\n".join(some(random, BASE64, 64) for _ in range(lines))
        return Planted(f"-----BEGIN {label} KEY-----\n{body}\n-----END {label} KEY-----", body)

    return Kind(name, "value", make)


def _basic(random: Random) -> Planted:
    secret = base64.b64encode(f"robot:{some(random, MIXED, 14)}".encode()).decode()
    return Planted(f"Basic {secret}", secret.rstrip("="))


def _jwt(random: Random) -> Planted:
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "RS256", "typ": "JWT"}, {"sub": some(random, MIXED, 12), "exp": 1})
    ]
    signature = some(random, MIXED, 86)
    return Planted(".".join([*parts, signature]), signature)


KINDS = (
    _key("aws", "AKIA", UPPER, 16),
    _key("aws-temporary", "ASIA", UPPER, 16),
    _key("aws-secret", "", BASE64, 40, "aws_secret_access_key"),
    _key("aws-session", "", BASE64, 200, "aws_session_token"),
    _key("github", "gh" + "p_", MIXED, 36),
    _key("github-fine", "github" + "_pat_", MIXED, 82),
    _key("gitlab", "gl" + "pat-", MIXED, 20),
    _key("slack", "xox" + "b-", MIXED, 48),
    _of_parts("slack-hook", "hook", "https://hooks.slack.com/" + "services/T0A/B0B/{}", MIXED, 24),
    _key("anthropic", "sk-" + "ant-api03-", MIXED, 93),
    _key("openai", "sk-" + "proj-", MIXED, 74),
    _key("atlassian", "ATA" + "TT3xFfGF0", MIXED, 170),
    _key("google", "AI" + "za", MIXED, 35),
    _key("google-oauth", "ya" + "29.", MIXED, 80),
    _key("azure-client", "q7A8" + "Q~", MIXED, 34),
    _key("azure-storage", "", BASE64, 86, "AccountKey"),
    _of_parts("azure-sas", "link", "https://acc.blob.example.org/c?sv=1&sig={}", MIXED, 43),
    _key("npm", "npm" + "_", MIXED, 36),
    _key("pypi", "pypi" + "-", MIXED, 160),
    _key("stripe", "sk" + "_live_", MIXED, 24),
    _key("sendgrid", "SG" + "." + "x" * 22 + ".", MIXED, 43),
    _key("huggingface", "h" + "f_", MIXED, 34),
    _key("digitalocean", "dop" + "_v1_", HEX, 64),
    _key("databricks", "da" + "pi", HEX, 32),
    _key("vault", "hv" + "s.", MIXED, 90),
    _key("grafana", "gl" + "sa_", MIXED, 41),
    _key("docker", "dckr" + "_pat_", MIXED, 27),
    Kind("jwt", "value", _jwt),
    _of_parts("bearer", "Authorization", "Bearer {}", MIXED, 40),
    Kind("basic", "Authorization", _basic),
    _key("password", "", ODD, 14, "password"),
    _key("api-key", "", MIXED, 32, "x-api-key"),
    _of_parts("url", "remote", "https://robot:{}@git.example.org/data.git", MIXED, 20),
    _of_parts("database-url", "dsn", "postgresql://app:{}@db.example.org:5432/jobs", MIXED, 16),
    _pem("pem", "RSA PRIVATE", 25),
    _pem("pem-plain", "PRIVATE", 27),
    _of_parts("x509-proxy", "proxy", "/tmp/x509up_u501.{}", MIXED, 8),
    _of_parts("cookie", "Cookie", "_session={}; theme=dark", MIXED, 32),
    _of_parts("kerberos", "cache", "FILE:/tmp/krb5cc_1000_{}", MIXED, 8),
    _of_parts("email", "by", "ann.{}@ops.example.org", string.ascii_lowercase, 10),
)


def _json(word: str, value: str) -> str:
    return json.dumps({"level": "ERROR", word: value, "host": "node-7"})


def _coloured(word: str, value: str) -> str:
    third = len(value) // 3
    inside = f"{value[:third]}\x1b[1;31m{value[third : 2 * third]}\x1b[0m{value[2 * third :]}"
    return f"\x1b[32mERROR\x1b[0m {word}: {inside} \x1b[2mtry 2\x1b[0m"


FRAMES: dict[str, Callable[[str, str], str]] = {
    "line": lambda word, value: f"10:00:01 ERROR request refused, {word}: {value} try 2 of 5",
    "json": _json,
    "pair": lambda word, value: f"level=error try=2 {word}={value} host=node-7",
    "url": lambda word, value: (
        f"GET https://api.example.org/v2/jobs?page=2&{word}={quote(value, safe='')}&limit=50 200"
    ),
    "colour": _coloured,
}


def is_read(secret: str, text: str) -> bool:
    """True when a part of *secret* can be read in *text*, whatever escapes stand between."""
    seen = unquote(COLOUR.sub("", text))
    return any(
        line[start : start + READABLE] in seen
        for line in secret.split("\n")
        for start in range(max(len(line) - READABLE, 0) + 1)
    )


def in_pieces(text: str, redact: Redact) -> str:
    """What is read of a document in which the border of two pieces stands amid *text*.

    A library redacts what it takes in, and then every piece that it shows is redacted.
    """
    before = "word " * ((LIMIT - len(text) // 2) // 5)
    kept = redact(f"{before}{text} and so on")
    return "".join(redact(piece.text) for piece in plain_pieces(kept))


def in_records(text: str, redact: Redact) -> str:
    """What is read where each line is a record of a logbook by itself."""
    return "\n".join(redact(line) for line in text.split("\n"))


def cases(random: Random, samples: int) -> Iterator[tuple[Kind, str, Planted, str]]:
    """Kind, frame, what was planted, and the text, *samples* times for each of the two."""
    for kind in KINDS:
        for frame, framed in FRAMES.items():
            for _ in range(samples):
                planted = kind.make(random)
                yield kind, frame, planted, framed(kind.word, planted.value)


def needed(random: Random) -> Iterator[str]:
    """What must never be masked, in every frame: hashes, UUIDs, job ids and timestamps."""
    digits = f"{random.randrange(10**12):012}"
    uuid = "-".join("".join(random.choices(HEX, k=size)) for size in (8, 4, 4, 4, 12))
    values = {
        "commit": "".join(random.choices(HEX, k=40)),
        "digest": "sha256:" + "".join(random.choices(HEX, k=64)),
        "request": uuid,
        "job": f"{digits[:7]}.{digits[7]}",
        "application": f"application_{digits}0_{digits[:4]}",
        "workflow": f"ops_ACDC0_task_EXO-RunIISummer20UL16GEN-{digits[:5]}__v1_T_{digits[:6]}_{digits[6:]}_1",
        "block": f"/SingleMuon/Run2017E-UL2017_MiniAODv2-v1/MINIAOD#{uuid}",
        "time": f"2026-03-01T10:{digits[0]}1:{digits[1]}2.{digits[2:5]}Z",
        "epoch": f"17{digits[:8]}.{digits[8:11]}",
        "file": f"/store/unmerged/Run2017E/{uuid.upper()}.root",
    }
    for word, value in values.items():
        for framed in FRAMES.values():
            yield framed(word, value)
