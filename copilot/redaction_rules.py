r"""What a secret looks like: one table of RE2 patterns, the particular before the general.

A rule's secret is its last group, or the whole match. None looks for mere randomness: job ids,
hashes and timestamps are what an investigation is about. `\0` stands for what is redacted already,
so no pattern may take it for a value. Keys have no upper length: what follows a key without a
border goes with it, else a second pass would see a border that the first did not.
"""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Span: TypeAlias = tuple[int, int]


class Match(Protocol):
    """What is used of a match of RE2, which has no types of its own."""

    @property
    def lastindex(self) -> int | None:
        """The last group that took part."""

    def span(self, group: int = 0) -> Span:
        """Where the group stands."""

    def group(self, group: int = 0) -> str:
        """The text of the group."""


def captured(match: Match, _: str) -> Span:
    """The last group, or the whole match where there is none."""
    return match.span(match.lastindex or 0)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret. `locate` says where it stands in the match, or that it is none."""

    name: str
    pattern: str
    locate: Callable[[Match, str], Span | None] = captured


LEFT = r"(?:\b|_|%[0-9A-Fa-f]{2}|\\[nrt])"
r"""Where a key may begin: also right after an escaped character, as in `\nAKIA…`."""
NAME = (
    r"(?:password|passwd|passphrase|passcode|pwd|secret|token|credentials?|authz"
    r"|(?:api|access|secret|private|account|shared|signing|encryption|auth)[_.-]?key)"
)
"""The last word of a name whose value is a secret."""
BARE = r"[^\s\"',;&\x00]+"
VALUE = rf"""(?:"((?:[^"\\\n\x00]|\\[^\n\x00])+)|\\+"([^"\\\n\x00]+)|'([^'\n\x00]+)|({BARE}))"""
BARE_GROUP = 6
"""Of the rules that `_value` reads: the name, what stands between, and four forms of a value."""

SECRET_NAME = re.compile(rf"(?i)[\w.-]*{NAME}|(?:proxy-)?authorization|(?:set-)?cookie2?")
HARMLESS_NAME = re.compile(
    r"(?i)(?:page|next|previous|prev|cursor|continuation|sync|cancellation|max|min|num|stop|eos|bos"
    r"|pad|unk|mask|first|last|start|end|per)[\s_.-]*token$"
)
PASSWORD = re.compile(r"(?i)(?:password|passwd|passphrase|passcode|pwd)$")
PLACEHOLDER = re.compile(
    r"(?i)[*x.•#_\\-]*|\$.*|\\[nrt].*|%\(?\w*\)?s?%?|\{.*|<.*|\[.*|\(.*"
    r"|none|null|nil|true|false|yes|no|empty|unset|required|invalid|missing|expired|incorrect|wrong"
    r"|failed|denied|changed|unknown|undefined|redacted|hidden|masked|removed|n/a|str|string|bytes?"
    r"|bearer|basic|token|digest|negotiate|ntlm|apikey|password|passwd|secret"
)
FUNCTION_WORD = re.compile(
    r"(?i)ok|not|is|was|are|has|for|and|or|the|an?|to|in|of|on|by|from|with|will|must|should|can"
)
PROSE = re.compile(r"[a-z]{1,14}|[A-Z][a-z]{1,13}")
RUN = re.compile(r"[^\s\"'<\x00=:]*(?P<names>[=:])?")
AFTER_A_VALUE = ",;&)]}>."


def is_placeholder(value: str) -> bool:
    """True when *value* only stands where a secret would: `***`, `${TOKEN}`, `None`, `required`."""
    return PLACEHOLDER.fullmatch(value.rstrip(AFTER_A_VALUE)) is not None


def names_a_secret(name: str) -> bool:
    """True when what is called *name*, such as `X-Api-Key` or `dbPassword`, is a secret."""
    return SECRET_NAME.fullmatch(name) is not None and not HARMLESS_NAME.search(name)


def is_secret(name: str, value: str) -> bool:
    """True when *value* is one that something called *name* would keep secret."""
    if name.casefold().endswith("pwd") and value.startswith("/"):
        return False  # the working directory, as shells call it
    is_small = value.isdecimal() and len(value) < 8 and not PASSWORD.search(name)
    return not is_small and not is_placeholder(value)


def _value(match: Match, text: str) -> Span | None:
    name, between = match.group(1), match.group(2)
    group = match.lastindex or 0
    start, end = match.span(group)
    if HARMLESS_NAME.search(name):
        return None
    if group == BARE_GROUP:
        end = _end_of_bare(text, start, end)
    value = text[start:end]
    if not is_secret(name, value) or (between.endswith((" ", "\t")) and _is_prose(name, value)):
        return None
    return start, end


def _is_prose(name: str, word: str) -> bool:
    """True for the next word of a sentence: `password: is`, `token: acquired`."""
    if PASSWORD.search(name):
        return FUNCTION_WORD.fullmatch(word) is not None
    return PROSE.fullmatch(word) is not None


def _end_of_bare(text: str, start: int, end: int) -> int:
    """Where a value without quotes ends: at a `,` or `;` only when another `name=` follows it."""
    run = RUN.match(text, end)
    if run and not run["names"]:
        end = run.end()
    return start + len(text[start:end].rstrip(AFTER_A_VALUE))


def _header(match: Match, text: str) -> Span | None:
    span = match.span(match.lastindex or 0)
    value = text[slice(*span)]
    return None if is_placeholder(value) or PROSE.fullmatch(value) else span


def _argument(match: Match, text: str) -> Span | None:
    span = match.span(match.lastindex or 0)
    value = text[slice(*span)]
    return span if is_secret("argument", value) and not FUNCTION_WORD.fullmatch(value) else None


def _bearer(match: Match, text: str) -> Span | None:
    span = match.span(1)
    value = text[slice(*span)]
    return span if any(c.isdigit() for c in value) or len(value) >= 30 else None


def _basic(match: Match, text: str) -> Span | None:
    """The user and password in Base64; words after "basic" are no credentials."""
    span = match.span(1)
    encoded = text[slice(*span)]
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4))
    except ValueError:
        return None
    return span if b":" in decoded else None


PEM_LIMIT = 20_000
PEM_LINES = re.compile(
    r"(?:(?:[ \t\r\n]|\\[nr])*(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info):.*))*"
)


def _pem(match: Match, text: str) -> Span:
    """What is between the BEGIN and the END line; without an END, the lines that look encoded."""
    start = match.span()[1]
    end = text.find("-----", start, start + PEM_LIMIT)
    if end < 0 or not text.startswith("-----END", end):
        lines = PEM_LINES.match(text, start)
        end = lines.end() if lines else start
    return start, end


def _key(name: str, body: str) -> Rule:
    return Rule(name, rf"{LEFT}({body})")


HEADER = r"""(?i)\b(?:proxy-)?authorization["'\\]*[ \t]*[:=][ \t]*["'\\]*"""

RULES = (
    Rule("pem", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----", _pem),
    _key("aws", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _key("github", r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,}"),
    _key(
        "gitlab", r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|imt|soat|oas)-[\w.-]{20,}|GR1348941[\w-]{20,}"
    ),
    _key("slack", r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"),
    Rule("slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,})"),
    _key("anthropic", r"sk-ant-[\w-]{16,}"),
    _key("openai", r"sk-(?:proj|svcacct|admin|or-v1|None)-[\w-]{20,}|sk-[A-Za-z0-9]{20,}"),
    _key("atlassian", r"AT(?:ATT3|CTT3|BB)[\w=.-]{20,}"),
    _key("google", r"AIza[\w-]{35,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|1//0[\w-]{30,}"),
    _key("azure", r"[A-Za-z0-9_~.]{3}[78]Q~[\w~.-]{31,}"),
    _key("npm", r"npm_[A-Za-z0-9]{36,}"),
    _key("pypi", r"pypi-[\w-]{50,}"),
    _key("stripe", r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,}"),
    _key("sendgrid", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    _key("twilio", r"SK[0-9a-f]{32}\b"),
    _key("mailgun", r"key-[0-9a-f]{32}\b"),
    _key("huggingface", r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    _key("digitalocean", r"do[opr]_v1_[0-9a-f]{64}\b"),
    _key("databricks", r"dapi[0-9a-f]{32}(?:-\d+)?\b"),
    _key("vault", r"hv[sbr]\.[\w-]{20,}"),
    _key("grafana", r"gl(?:sa|c)_[\w=+/]{32,}|eyJrIjoi[\w=]{40,}"),
    _key("telegram", r"\d{8,10}:AA[\w-]{32,}"),
    _key("docker", r"dckr_(?:pat|oat)_[\w-]{20,}"),
    _key("linear", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _key("shopify", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    _key("terraform", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    _key("newrelic", r"NR(?:AK|JS|RA)-[A-Za-z0-9]{19,}"),
    _key("groq", r"gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}"),
    _key("age", r"AGE-SECRET-KEY-1[A-Z0-9]{58}\b"),
    _key("jwt", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*)?|eyJ[\w-]{10,}(?:\.[\w-]*){4}"),
    Rule("x509-proxy", r"((?:/[\w.-]+)*/x509up_[\w.-]*\w)"),
    Rule("kerberos", r"((?:FILE:|DIR:)?(?:/[\w.-]+)*/krb5cc_?[\w.-]*)"),
    _key("kerberos", r"KEYRING:[\w:]+"),
    Rule(
        "credential-path",
        r"""\b(?:X509_USER_(?:PROXY|KEY)|KRB5CCNAME)["'\\]*[ \t]*[:=][ \t]*["'\\]*"""
        rf"({BARE})",
        _header,
    ),
    Rule("authorization", rf"{HEADER}(?:digest|aws4-[\w-]+)[ \t]+([^\n\x00]+)"),
    Rule(
        "authorization",
        rf"""{HEADER}(?:bearer|basic|token|negotiate|ntlm|apikey|splunk)[ \t]+({BARE})""",
        _header,
    ),
    Rule("authorization", rf"{HEADER}({BARE})", _header),
    Rule("bearer", r"(?i)\bbearer[ \t]+([\w.~+/-]{8,}=*)", _bearer),
    Rule("basic", r"(?i)\bbasic[ \t]+([A-Za-z0-9+/]{6,}={0,2})", _basic),
    Rule(
        "cookie",
        r"""(?i)\b(?:set-)?cookie2?["'\\]*[ \t]*[:=][ \t]*["'\\]*"""
        r"""([\w.-]+=[^\s;"'\\]*(?:;[ \t]*[\w.-]+(?:=[^\s;"'\\]*)?)*)""",
    ),
    Rule("url", r"""\b[a-zA-Z][\w+.-]*://[^\s/:@?#"'<>\x00]*:([^\s/?#"'<>\x00]+)@"""),
    Rule("url", r"(?i)[?&](?:sig|signature|x-(?:amz|goog)-signature|code)=([\w%+/=.~-]{16,})"),
    Rule(
        "password",
        rf"(?i)([\w.-]*{NAME})(\d{{0,2}}[\"'\\]*[ \t]*(?:=>|:=|==?|:)[ \t]*){VALUE}",
        _value,
    ),
    Rule(
        "password",
        rf"(?i)--?[\w-]*{NAME}[ \t]+"
        r"""(?:"([^"\n\x00]+)|'([^'\n\x00]+)|([^\s"'\x00-][^\s"'\x00]*))""",
        _argument,
    ),
    Rule("password", rf"(?i)<(?:\w+:)?([\w.-]*{NAME})(>[ \t]*)()()()([^<\s\x00]+)", _value),
    Rule("password", r"""(?i)\b(?:identified by|sshpass -p)[ \t]*["']?([^\s"'\x00]+)"""),
    Rule("password", r"""(?i)\blogin[ \t]+\S+[ \t]+password[ \t]+([^\s"'\x00]+)"""),
    Rule("password", r"""[ \t](?:-u|--user)[ =]["']?[\w.@-]+:([^\s"'\x00]+)""", _argument),
)
EMAIL = Rule("email", r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b")
