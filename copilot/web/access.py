"""Who may talk to the daemon: whoever has the secret; on loopback without one, everybody there."""

import base64
import binascii
import hashlib
import hmac
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copilot.credentials import Secret, secret
from copilot.errors import ConfigError, CredentialsError

TOKEN = "COPILOT_INTAKE_TOKEN"  # noqa: S105  # the variable's name
BASIC = "COPILOT_INTAKE_BASIC"
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Access:
    """The secrets that open the door; none of them: it stands open."""

    token: Secret | None = None
    basic: Secret | None = None
    """`user:password`."""
    local: Secret | None = None
    """One more token, of the commands on this machine; it does not close an open door."""

    @property
    def is_open(self) -> bool:
        """True when no secret is asked for."""
        return self.token is None and self.basic is None

    def admits(self, authorizations: Sequence[str]) -> bool:
        """True for exactly one Authorization header, with one of the secrets in it.

        How long this takes says nothing of the secrets: digests of one length are compared.
        """
        if self.is_open:
            return True
        if len(authorizations) != 1:
            return False
        scheme, _, given = authorizations[0].strip().partition(" ")
        match scheme.lower():
            case "bearer":
                text = given.strip().encode("latin-1", "replace")
                return _is(self.token, text) | _is(self.local, text)
            case "basic":
                return _is(self.basic, _decoded(given.strip()))
            case _:
                return False

    def challenge(self) -> str:
        """What a 401 says of the ways in."""
        ways = [("Bearer", self.token), ('Basic realm="copilot", charset="UTF-8"', self.basic)]
        return ", ".join(way for way, key in ways if key)


def access_from(environ: Mapping[str, str]) -> Access:
    """The configured secrets. Raises CredentialsError when one of them cannot be one."""
    basic = secret(BASIC, environ)
    if basic and ":" not in basic.reveal():
        raise CredentialsError(f"{basic.origin}: must be user:password, and has no colon")
    return Access(secret(TOKEN, environ), basic)


def split_address(listen: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`; the brackets of an IPv6 address are gone."""
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)


def check_listen(listen: str, access: Access) -> None:
    """Raise ConfigError when strangers could reach *listen* and nothing is asked of them."""
    host, _ = split_address(listen)
    if access.is_open and not _is_loopback(host):
        raise ConfigError(
            f"daemon.listen: {listen} can be reached from other machines and no secret is set; "
            f"set {TOKEN} or {BASIC}, or listen on 127.0.0.1"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is(key: Secret | None, given: bytes) -> bool:
    expected = hashlib.sha256(key.reveal().encode() if key else b"").digest()
    return hmac.compare_digest(hashlib.sha256(given).digest(), expected) and key is not None


def _decoded(text: str) -> bytes:
    """The bytes behind Base64; nothing that could be a secret when it is none."""
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return b""
