"""A secret is never kept, what an investigation needs is never masked, and lines stay in place.

Planted secrets are put together here from two halves, so that no scanner takes this file for a leak.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.redact import TOKEN, Redactor

REDACTOR = Redactor(b"a key of one workspace")
HEX = "0123456789abcdef" * 4
MIXED = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 4

KINDS = {
    "aws": "AKIA" + MIXED.upper()[:16],
    "aws-temporary": "ASIA" + MIXED.upper()[:16],
    "github": "ghp_" + MIXED[:36],
    "github-app": "ghs_" + MIXED[:36],
    "github-fine": "github_pat_" + MIXED[:22] + "_" + MIXED[:59],
    "gitlab": "glpat-" + MIXED[:20],
    "gitlab-runner": "glrt-" + MIXED[:20],
    "slack": "xoxb-" + "123456789012-123456789012-" + MIXED[:24],
    "slack-app": "xapp-1-" + MIXED[:24].upper(),
    "slack-hook": "hooks.slack.com/services/" + "T00000000/B00000000/" + MIXED[:24],
    "anthropic": "sk-ant-" + "api03-" + MIXED[:93],
    "openai": "sk-" + MIXED[:48],
    "openai-project": "sk-proj-" + MIXED[:74],
    "atlassian": "ATATT3" + "xFfGF0" + MIXED[:60] + "=1A2B3C4D",
    "google": "AIza" + MIXED[:35],
    "google-oauth": "ya29." + MIXED[:60],
    "google-client": "GOCSPX-" + MIXED[:28],
    "azure-client": "aB3" + "8Q~" + MIXED[:34],
    "npm": "npm_" + MIXED[:36],
    "pypi": "pypi-" + MIXED[:60],
    "stripe": "sk_live_" + MIXED[:24],
    "stripe-hook": "whsec_" + MIXED[:32],
    "sendgrid": "SG." + MIXED[:22] + "." + MIXED[:43],
    "twilio": "SK" + HEX[:32],
    "age": "AGE-SECRET-KEY-1" + MIXED.upper()[:58],
    "huggingface": "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "digitalocean": "dop_v1_" + HEX,
    "databricks": "dapi" + HEX[:32],
    "vault": "hvs." + MIXED[:24],
    "grafana": "glsa_" + MIXED[:32] + "_" + HEX[:8],
    "telegram": "123456789:AA" + MIXED[:33],
    "docker": "dckr_pat_" + MIXED[:27],
    "shopify": "shpat_" + HEX[:32],
    "linear": "lin_api_" + MIXED[:40],
    "groq": "gsk_" + MIXED[:52],
    "newrelic": "NRAK-" + MIXED.upper()[:27],
    "terraform": MIXED[:14] + ".atlasv1." + MIXED[:67],
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + MIXED[:43],
    "x509-proxy": "/tmp/x509up_" + "u1234",
    "x509-proxy-deep": "/srv/job-7/glide.1/x509up_" + "u0_x.pem",
    "kerberos": "/tmp/krb5cc_" + "1000_AbCdEf",
    "kerberos-keyring": "KEYRING:" + "persistent:1000",
}
FRAMES = (
    "2026-01-02T03:04:05Z INFO sending {} to host-7",
    '{{"level": "ERROR", "msg": "refused {}"}}',
    "args=['{}']",
    "url?x=1&y={}&z=2",
    "failed:\\n{}\\nretry",
)

NAMED = (
    "password={}",
    "passwd: {}",
    "DB_PASSWORD={} ./run",
    "export API_KEY='{}'",
    'secret = "{}"',
    '{{"password": "{}"}}',
    '"{{\\"access_token\\":\\"{}\\"}}"',
    "jdbc:postgresql://h/db?user=bob&password={}&ssl=true",
    "AccountName=x;AccountKey={};EndpointSuffix=y",
    "X-Api-Key: {}",
    "Private-Token: {}",
    "Authorization: Bearer {}",
    "authorization: token {} (retry 2)",
    "'Authorization': 'Basic {}'",
    "Proxy-Authorization: Negotiate {}",
    "https://bob:{}@git.example.org/x.git",
    "redis://:{}@cache:6379/0",
    "Cookie: session={}; theme=dark",
    "Set-Cookie: sid={}; Path=/; HttpOnly",
    "<db:password>{}</db:password>",
    "run --db-password {} --verbose",
    "run --token={}",
    "curl -u bob:{} https://h/",
    "aws_secret_access_key = {}",
    "client_secret => '{}'",
    "CREATE USER bob IDENTIFIED BY '{}'",
    "https://blob.example.org/c?sv=2020&sig={}",
    "machine h login bob password {}",
)

WORDED = {
    "got bearer {} from the header": "a1b2c3d4e5f6",
    "sent basic {} to the proxy": "cm9ib3Q6aHVudGVyMg==",
    "Authorization: Digest {}": 'username="bob", response="6629fae49393a05397450978507c4ef1"',
    "authorization={} host=h": "q7w8e9r0",
    "export X509_USER_PROXY={}": "/srv/glide/job7/proxy.pem",
    "X509_USER_KEY: {} not readable": "/home/ann/.globus/userkey.pem",
    "'KRB5CCNAME': '{}'": "/run/user/501/krb5/tkt7",
}
"""What nothing but the word before it gives away."""
KEPT = (
    "commit 3f2a9c1e8b7d6f5a4c3b2a190807f6e5d4c3b2a1 by ann",
    "sha256:" + HEX,
    "request 123e4567-e89b-12d3-a456-426614174000 done in 1719403200 s",
    "pdmvserv_task_HIG-RunIISummer20UL16wmLHEGEN-01234__v1_T_240101_120000_1234",
    "/SingleMuon/Run2016B-ver2_HCALDebug_ReDigi/MINIAOD at T2_US_Nebraska",
    "/store/unmerged/data/Run2016B/AAA/0042.root",
    "job 4116027.1 on container_1445144423722_0020_01_000002",
    "input_tokens=1234, max_tokens: 4096, token: 17, next_page_token=CAESBggBEAIYAQ",
    "Password: required. token expired, secret: ${SECRET} password=*** passwd=None",
    "PWD=/srv/agent and OLDPWD=/root",
    "password=$DB_PASSWORD token=${TOKEN} secret=$(cat f) --password <password> token={token}",
    "cache key-d41d8cd98f00b204e9800998ecf8427e hit",
    "Failed password for root from 10.0.0.7 port 22 ssh2",
    "Basic authentication failed; Bearer authentication is missing",
    "sessionid:0x14f05578bd80001 Kind: YARN_AM_RM_TOKEN, Service: x",
    "http://host:8080/path?mail=a@b.c and git@github.com:o/r.git",
    "task-sk-learn-pipeline-version and disk-abcdefghijklmnopqrst",
    "the file must hold a key (-----BEGIN CERTIFICATE-----)",
    "mail ann@example.org",
)


@pytest.mark.parametrize("secret", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.bad_input("B69")
def test_a_key_of_a_known_kind_is_caught_in_any_frame(frame: str, secret: str) -> None:
    line = frame.format(secret)

    redacted = REDACTOR.redact(line)

    for part in (secret, secret[-12:], secret.rsplit("/", maxsplit=1)[-1]):
        assert part not in redacted
    before, after = frame.format("\0").split("\0")
    assert redacted.startswith(before)
    assert redacted.endswith(after)


@pytest.mark.parametrize("frame", NAMED)
@pytest.mark.parametrize("value", ["hunter2", "S3cr3t/Pa+ss==", "correcthorse9battery"])
def test_a_value_is_caught_by_its_name(frame: str, value: str) -> None:
    if "Basic" in frame or "://" in frame:
        value = value.replace("/", "_")
    if "sig=" in frame:
        value *= 3

    redacted = REDACTOR.redact(frame.format(value))

    assert value not in redacted
    before, after = frame.format("\0").split("\0")
    if "ookie" in frame:  # its names and attributes go with the values
        before, after = before.split()[0], ""
    assert redacted.startswith(before)
    assert redacted.endswith(after)


@pytest.mark.parametrize(("frame", "value"), WORDED.items())
@pytest.mark.bad_input("B69")
def test_a_value_is_caught_by_the_word_before_it(frame: str, value: str) -> None:
    before, after = frame.format("\0").split("\0")

    redacted = REDACTOR.redact(frame.format(value))

    assert value not in redacted
    assert TOKEN.fullmatch(redacted.removeprefix(before).removesuffix(after))


@pytest.mark.parametrize("frame", NAMED)
@pytest.mark.parametrize("times", [1, 2])
def test_json_that_holds_a_secret_is_still_json(frame: str, times: int) -> None:
    text = frame.format("hunter2hunter2hunter2")
    for _ in range(times):
        text = json.dumps({"msg": text, "next": 1})

    redacted = REDACTOR.redact(text)

    for _ in range(times):
        assert json.loads(redacted)["next"] == 1
        redacted = json.loads(redacted)["msg"]
    assert "hunter2" not in redacted


@pytest.mark.parametrize(
    "value", ["$ecret/123", "(abc123", "<x9y>z", "{pw4}", "%40pct", "a$b", "The1"]
)
def test_a_password_may_look_odd(value: str) -> None:
    assert value.strip("<>{}(") not in REDACTOR.redact(f"password={value}")


@pytest.mark.parametrize("line", KEPT)
@pytest.mark.bad_input("B69")
def test_what_an_investigation_needs_is_left_alone(line: str) -> None:
    assert REDACTOR.redact(line) == line


def test_no_line_of_the_public_logs_is_taken_for_a_secret(shared_data: Path) -> None:
    for log in sorted((shared_data / "loghub").glob("*.log")):
        text = log.read_text(errors="replace")
        assert REDACTOR.redact(text) == text, log.name


@pytest.mark.bad_input("B69")
def test_a_private_key_goes_line_by_line_and_its_frame_stays() -> None:
    lines = [f"{MIXED[i:]}{MIXED}"[:64] for i in range(25)]
    name = "RSA PRIVATE" + " KEY-----"
    text = "\n".join(["before", f"-----BEGIN {name}", *lines, f"-----END {name}", "after"])

    redacted, counts = REDACTOR.redact_counted(text)

    got = redacted.split("\n")
    assert (got[0], got[1], got[-2], got[-1]) == (
        "before",
        f"-----BEGIN {name}",
        f"-----END {name}",
        "after",
    )
    assert all(TOKEN.fullmatch(line) for line in got[2:-2])
    assert (len(got), counts) == (29, {"pem": 1})


@pytest.mark.bad_input("B70")
def test_a_private_key_that_was_cut_or_escaped_is_caught() -> None:
    begin = "-----BEGIN OPENSSH PRIVATE" + " KEY-----"
    cut = f"{begin}\n{MIXED[:64]}\n{MIXED[:64]}\nConnection closed by host\n"
    escaped = f'{{"key": "{begin}\\n{MIXED[:64]}\\n-----END OPENSSH PRIVATE KEY-----\\n", "a": 1}}'

    assert REDACTOR.redact(cut).endswith(">\nConnection closed by host\n")
    assert MIXED[:16] not in REDACTOR.redact(cut)
    assert MIXED[:16] not in REDACTOR.redact(escaped)
    assert MIXED[:16] not in REDACTOR.redact(
        f"{MIXED[:64]}\n{MIXED[:9]}\n{begin.replace('BEGIN', 'END')}"
    )
    end = begin.replace("BEGIN", "END")
    assert MIXED[:16] not in REDACTOR.redact(f'"{MIXED[:76]}\\n{MIXED[:76]}\\n{end}\\n"')
    assert MIXED[:16] not in REDACTOR.redact(
        f"12:00 {begin}\n12:01 {MIXED[:64]}\n12:02 {MIXED[:64]}"
    )
    assert json.loads(REDACTOR.redact(escaped))["a"] == 1


@pytest.mark.parametrize(
    "code", ["\x1b[31m", "\x1b[0;1m", "\u200b", "\\u001b[0m", "\x00", "\x1b]0;t\x07"]
)
@pytest.mark.parametrize("secret", [KINDS["github"], KINDS["aws"], KINDS["jwt"]])
@pytest.mark.bad_input("B70")
def test_a_colour_code_inside_hides_nothing(code: str, secret: str) -> None:
    text = f"got {secret[:7]}{code}{secret[7:12]}{code}{secret[12:]} now\nnext"

    redacted = REDACTOR.redact(text)

    assert redacted == REDACTOR.redact(f"got {secret} now\nnext")


def test_a_coloured_header_and_name_are_seen() -> None:
    assert "hunter2" not in REDACTOR.redact("\x1b[1mpass\x1b[32mword\x1b[0m=\x1b[33mhunter2\x1b[0m")
    assert "abc12345" not in REDACTOR.redact("Author\x1b[1mization: Be\x1b[0marer abc12345")


@pytest.mark.parametrize(
    "text", ["\x1b]password=hunter2", "\x1bPassword=hunter2", "\x1b[password=hunter2"]
)
def test_what_a_terminal_would_swallow_is_looked_at_too(text: str) -> None:
    assert "hunter2" not in REDACTOR.redact(text)


def test_a_line_of_fifty_thousand_names_is_no_trap() -> None:
    assert "hunter2" not in REDACTOR.redact("password=hunter2," * 50_000)


def test_the_same_secret_has_one_token_per_workspace() -> None:
    first = REDACTOR.redact(f"password={KINDS['aws']}").removeprefix("password=")
    second = REDACTOR.redact(f"seen {KINDS['aws']} again")

    assert first in second
    assert TOKEN.fullmatch(first)
    assert Redactor(b"another").redact(f"seen {KINDS['aws']} again") != second


def test_counts_are_by_kind() -> None:
    _, counts = REDACTOR.redact_counted(f"{KINDS['aws']} {KINDS['aws']} password=hunter2")

    assert counts == {"aws": 2, "password": 1}


def test_every_secret_of_a_line_goes() -> None:
    line = "user=bob,password=one1,token=two2two2;secret='three 3', api_key: four4, host=h"

    redacted = REDACTOR.redact(line)

    assert [word for word in ("one1", "two2", "three", "four4") if word in redacted] == []
    assert redacted.startswith("user=bob,")
    assert redacted.endswith(", host=h")


def test_mail_addresses_go_only_where_that_is_asked_for() -> None:
    redacted = Redactor(b"k", emails=True).redact("mail ann.b@ops.example.org now")

    assert "ann" not in redacted
    assert redacted.endswith(" now")


def test_json_is_redacted_by_its_texts_and_its_names() -> None:
    value = {
        "password": "hunter2",
        "db": {"dbPassword": ["one", "two"], "port": 5432},
        "Authorization": "Bearer hunter2",
        "next_page_token": "CAESBg",
        "msg": f"key {KINDS['aws']}",
        "token": None,
    }

    redacted = REDACTOR.redact_json(value)

    token = redacted["password"]
    assert list(redacted) == list(value)
    assert redacted["Authorization"] == f"Bearer {token}"
    assert redacted["next_page_token"] == "CAESBg"
    assert redacted["token"] is None
    text = json.dumps(redacted)
    assert [word for word in ("hunter2", '"one"', '"two"', "AKIA") if word in text] == []
    assert '"port": 5432' in text
    assert REDACTOR.redact_json(redacted) == redacted


@pytest.mark.parametrize(
    "frame",
    ["next=/login%3Fpassword%3D{}", "https%3A%2F%2Fbob%3A{}@h/", "Authorization%3A%20Bearer%20{}"],
)
def test_an_escape_of_a_url_hides_nothing(frame: str) -> None:
    before, after = frame.format("\0").split("\0")

    redacted = REDACTOR.redact(frame.format("hunter2xyz9"))

    assert TOKEN.fullmatch(redacted.removeprefix(before).removesuffix(after))


@pytest.mark.parametrize(
    "frame",
    [
        '{{"m": "password\\u003d{} said"}}',
        '{{"u": "https:\\/\\/bob:{}@h\\/"}}',
        '{{"m": "{{\\"u\\": \\"https:\\\\\\/\\\\\\/bob:{}@h\\"}}"}}',
        '{{"q": "?a=1\\u0026access_token\\u003d{}\\u0026b=2"}}',
        '{{"m": "pass\\u0077ord: {}"}}',
    ],
    ids=["gson", "php", "php in json", "go", "a letter"],
)
def test_an_escape_of_json_hides_nothing(frame: str) -> None:
    before, after = frame.format("\0").split("\0")

    redacted = REDACTOR.redact(frame.format("hunter2xyz9"))

    assert TOKEN.fullmatch(redacted.removeprefix(before).removesuffix(after))


@pytest.mark.parametrize(
    "text", [r"C:\users\u0041dmin", r'{"a": "\u003cb\u003e", "b": "1\/2"}', r"\\host\/share \u0020"]
)
def test_an_escape_without_a_secret_stays_as_it_is(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_json_of_any_depth_is_redacted() -> None:
    value: object = "password=hunter2"
    for _ in range(10_000):
        value = [value]

    redacted: object = REDACTOR.redact_json(value)

    for _ in range(10_000):
        assert isinstance(redacted, list)
        (redacted,) = redacted
    assert redacted == REDACTOR.redact("password=hunter2")


BITS = st.sampled_from(
    [
        *KINDS.values(),
        *(part for frame in NAMED for part in frame.format("\0").split("\0")),
        "hunter2",
        "-----BEGIN RSA PRIVATE" + " KEY-----",
        "-----END RSA PRIVATE" + " KEY-----",
        MIXED[:64],
        "<secret:aws:3f2a>",
        "<secret:password:0000>",
        "\x1b[31m",
        "\x1b]0;",
        "\x1b",
        *("\\x1b[1m", "\\u001b[m", "^[[0m", "\u200b", "\u202e"),
        "\x00",
        *("%3A", "%2F", "%40", "%20", "%0A", "%00", "%25", "%3"),
        *("\\u003d", "\\\\u003a", "\\/", "\\u0040", "\\u00", "\\u007f"),
        MIXED[:64].lower(),
        "\\n",
        *"\n\r\t \"',;:=&@<>()[]{}/\\.-_aZ9é\ud800",
    ]
)
TEXTS = st.lists(BITS, max_size=14).map("".join) | st.text(max_size=60)


@given(TEXTS)
def test_redacting_twice_is_redacting_once_and_no_line_moves(text: str) -> None:
    once = REDACTOR.redact(text)

    assert REDACTOR.redact(once) == once
    assert once.count("\n") == text.count("\n")


class Every:
    """A look over the rules that rules none out."""

    def Match(self, text: str) -> range:  # noqa: N802 - the name that RE2 has
        return range(len(SLOW._rules))


SLOW = Redactor(b"a key of one workspace")
SLOW._any = Every()


@given(TEXTS)
def test_the_quick_look_over_all_rules_misses_none(text: str) -> None:
    assert SLOW.redact(text) == REDACTOR.redact(text)
