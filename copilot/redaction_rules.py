r"""What a secret looks like: one table of RE2 patterns, the particular before the general.

None looks for mere randomness: job ids, hashes and timestamps are what an investigation is about.
`\0` stands for what is redacted already, so no pattern may take it for a value. Keys have no upper
length: what follows a key without a border goes with it, else a second pass would see a border
that the first did not.
"""

from collections.abc import Callable
from dataclasses import dataclass

from copilot.redaction_checks import (
    NAME,
    Match,
    Span,
    argument,
    basic,
    bearer,
    captured,
    header_value,
    named_value,
    pem_body,
    pem_line,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret. `locate` says where it stands in the match, or that it is none."""

    name: str
    pattern: str
    locate: Callable[[Match, str], Span | None] = captured


LEFT = r"(?:\b|_|%[0-9A-Fa-f]{2}|\\[nrt]|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})"
r"""Where a key may begin: also right after an escaped character, as in `\nAKIA…`, `\u200bAKIA…`."""
BARE = r"[^\s\"',;&\x00]+"
VALUE = rf"""(?:"((?:[^"\\\n\x00]|\\[^\n\x00])+)|\\+"([^"\\\n\x00]+)|'([^'\n\x00]+)|({BARE}))"""


def _key(name: str, body: str) -> Rule:
    return Rule(name, rf"{LEFT}({body})")


ENCODED = r"(?:[A-Za-z0-9+/=]{40,}(?:\s|\\[nr])+)+(?:[A-Za-z0-9+/=]+(?:\s|\\[nr])+)?"
HEADER = r"""(?i)\b(?:proxy-)?authorization["'\\]*[ \t]*[:=][ \t]*["'\\]*"""

RULES = (
    Rule("pem", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----", pem_body),
    Rule("pem", rf"({ENCODED})-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY"),  # its beginning was cut off
    Rule("pem", r"(?m)(?:^|[ \t])([A-Za-z0-9+/]{64})[ \t\r]*$", pem_line),  # a line on its own
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
        header_value,
    ),
    Rule("authorization", rf"{HEADER}(?:digest|aws4-[\w-]+)[ \t]+([^\n\x00]+)"),
    Rule(
        "authorization",
        rf"""{HEADER}(?:bearer|basic|token|negotiate|ntlm|apikey|splunk)[ \t]+({BARE})""",
        header_value,
    ),
    Rule("authorization", rf"{HEADER}({BARE})", header_value),
    Rule("bearer", r"(?i)\bbearer[ \t]+([\w.~+/-]{8,}=*)", bearer),
    Rule("basic", r"(?i)\bbasic[ \t]+([A-Za-z0-9+/]{6,}={0,2})", basic),
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
        named_value,
    ),
    Rule(
        "password",
        rf"(?i)--?[\w-]*{NAME}[ \t]+"
        r"""(?:"([^"\n\x00]+)|'([^'\n\x00]+)|([^\s"'\x00-][^\s"'\x00]*))""",
        argument,
    ),
    Rule(
        "password",
        rf"(?i)<(?:\w+:)?([\w.-]*{NAME})(>[ \t]*)()()()([^<\s\x00]+)[ \t]*<",
        named_value,
    ),
    Rule("password", r"""(?i)\b(?:identified by|sshpass -p)[ \t]*["']?([^\s"'\x00]+)"""),
    Rule("password", r"""(?i)\blogin[ \t]+\S+[ \t]+password[ \t]+([^\s"'\x00]+)"""),
    Rule("password", r"""[ \t](?:-u|--user)[ =]["']?[\w.@-]+:([^\s"'\x00]+)""", argument),
)
EMAIL = Rule("email", r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b")
