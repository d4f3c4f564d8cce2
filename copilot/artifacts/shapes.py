"""What names in operations look like: tickets, workflows, hosts, paths, hashes, errors, amounts.

The patterns are linear in the text (no nested repetition), so a hostile log line costs no more
than a friendly one.
"""

import re
from collections.abc import Iterator
from errno import errorcode

UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
HASH = (
    rf"(?:[a-z]{{2,8}}-)?{UUID}"
    r"|(?:sha\d+:)?(?:[0-9a-f]{128}|[0-9a-f]{96}|[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})"
    r"|(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{16}"
)
JOB = r"(?:application|appattempt|attempt|job|container|task|blk)_(?:e\d+_)?-?\d[\d_mr]*"
EXCEPTION = (
    r"(?:[A-Za-z_][\w$]*\.)*[A-Z][A-Za-z0-9$]*"
    r"(?:Error|Exception|Failure|Fault|Timeout|NotFound|Interrupt|Killed|Kill|BackOff)"
)
STAMPED = r"[A-Za-z][\w.+-]*_\d{6}_\d{6}_\d{1,6}"
"""A request's name that ends in its date, time and number."""
LIBRARY = r"lib[\w+-]+\.so(?:\.\d+)*|(?:GLIBC|GLIBCXX|CXXABI)_\d[\d.]*"
POD_SIGNS = "[bcdfghjklmnpqrstvwxz2456789]"
"""What Kubernetes makes its suffixes of: no vowels, so that no word comes out."""

SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("site", r"T[0-3]_[A-Z]{2}_\w+"),
        ("workflow", rf"{STAMPED}|\d{{6}}_\d{{6}}(?::\w[\w.-]*)?"),
        ("workflow", r"(?:scheduled|manual|backfill)__\d{4}-\d\d-\d\d[\w:.+-]*"),
        ("job", JOB),
        ("ticket", r"[A-Z][A-Z0-9_]{1,14}-\d{1,7}|[\w.-]+/[\w.-]+#\d+"),
        ("library", LIBRARY),
        ("dataset", r"/[\w-]+/\w+-[\w-]+/[A-Z][A-Z0-9-]{2,}|/[\w-]+/[\w-]+/[A-Z][A-Z0-9-]+#[\w-]+"),
        ("hash", HASH),
        ("exception", EXCEPTION),
        ("path", r"(?:~|\.{1,2})?/[\w.@%+~:-]+(?:/[\w.@%+~:#-]*)+|/[a-z][\w.-]{2,}"),
        ("path", r"(?:[\w.-]+/)+[\w-]+\.[A-Za-z]\w{0,4}"),
        ("pod", rf"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?-{POD_SIGNS}{{5}}"),
        ("service", r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:service|svc|gateway|scheduler|worker)"),
        ("pod", rf"[a-z](?:[a-z0-9-]*[a-z0-9])?-(?=[a-z]*\d){POD_SIGNS}{{8,10}}"),
    )
)  # fmt: skip
INSIDE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("workflow", re.compile(STAMPED)),
    ("library", re.compile(LIBRARY)),
    ("hash", re.compile(UUID)),
)
"""What is worth keeping out of the middle of a path too."""

NOT_TICKETS = frozenset({
    "AES", "BASE", "CP", "CVE", "EL", "GMT", "GPT", "HTTP", "IEC", "IEEE", "IP", "IPV", "ISO",
    "IS", "LATIN", "MD", "PEP", "PY", "RFC", "RSA", "SHA", "SSL", "TCP", "TLS", "UDP", "UTC",
    "UTF",
})  # fmt: skip
"""Standards, ciphers and encodings have numbers too."""
ERRNO = frozenset(errorcode.values())

LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
SERVER = re.compile(rf"({LABEL}(?:\.{LABEL})*)(?::(\d{{2,5}}))?")
ADDRESS = re.compile(
    r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?::\d{1,5}|/\d\d?)?"
)
MACHINE = re.compile(
    r"(?:node|host|worker|agent|server|wn|db|vm|broker|master|gpu|schedd|ceph|rack)-?\d{1,5}"
    r"|[a-z][a-z0-9]*-[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d{1,4}"
    r"|[A-Z]{2,}[A-Z0-9]*-[A-Z]{2,}[A-Z0-9]*\d"
    r"|localhost"
)
DOMAINS = frozenset({
    "com", "org", "net", "edu", "gov", "mil", "int", "io", "cloud", "info", "dev", "app",
    "example", "test", "local", "localdomain", "internal", "intranet", "lan", "corp", "svc",
    "cluster", "at", "au", "be", "br", "ca", "ch", "cn", "cz", "de", "dk", "ee", "es", "eu",
    "fi", "fr", "gr", "hu", "ie", "il", "in", "it", "jp", "kr", "nl", "no", "nz", "pt", "ru",
    "se", "sg", "tr", "tw", "ua", "uk", "us", "za", "cern",
})  # fmt: skip
"""Last labels of host names; those that are also endings of files (pl, sh, md, …) are left out."""
PACKAGES = frozenset({"com", "org", "net", "edu", "io", "java", "javax"})
"""First labels of Java packages."""
ENDINGS = frozenset({
    "py", "java", "go", "js", "ts", "c", "cc", "cpp", "h", "rs", "rb", "pl", "sh", "log", "txt",
    "json", "yaml", "yml", "xml", "csv", "cfg", "conf", "ini", "gz", "tar", "zip", "out", "md",
})  # fmt: skip
PORTS = frozenset({
    22, 25, 53, 80, 88, 389, 443, 636, 1433, 1521, 2181, 3306, 3389, 5432, 5671, 5672, 6379,
    6443, 8000, 8020, 8080, 8088, 8443, 9000, 9042, 9090, 9092, 9093, 9100, 9200, 9300, 11211,
    27017,
})  # fmt: skip
"""A plain word with one of these behind it is a server: `redis:6379`."""


def kind(name: str) -> str:
    """What the whole of *name* is, or an empty text."""
    for found, pattern in SHAPES:
        if pattern.fullmatch(name):
            if found == "ticket" and name.partition("-")[0] in NOT_TICKETS:
                return ""
            return found
    if name in ERRNO:
        return "exception"
    return place(name)


def inside(path: str) -> Iterator[tuple[str, str]]:
    """What is worth keeping out of the middle of a path: its kind and the text."""
    for found, pattern in INSIDE:
        for match in pattern.finditer(path):
            yield found, match.group()


def place(name: str) -> str:
    """`ip` or `host` when *name* is an address or a server, with a port or without; else empty."""
    if ADDRESS.fullmatch(name):
        return "ip"
    server = SERVER.fullmatch(name)
    if not server:
        return ""
    host, port = server.group(1), int(server.group(2) or 0)
    return "host" if port <= 65535 and _is_host(host, port) else ""


def _is_host(host: str, port: int) -> bool:
    if MACHINE.fullmatch(host):
        return True
    labels = host.split(".")
    if len(labels) == 1:
        dashed = "-" in host and bool(re.search("[a-z]", host))
        return (port in PORTS and host.islower()) or (dashed and port >= 22)
    if labels[0] in PACKAGES or labels[-1].lower() in ENDINGS or labels[-1].isdigit():
        return False
    known = labels[-1].lower() in DOMAINS
    service = all("-" in label and label == label.lower() for label in labels)
    return known or service or port >= 22
