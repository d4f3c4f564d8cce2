"""Which addresses of services a person may configure. Pure: nothing is looked up."""

import ipaddress
import re
from urllib.parse import urlsplit

NAME = re.compile(r"(?!.*\.\d+$)[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)

INDEX = re.compile(r"(?!\.\.?$)[a-z0-9.][a-z0-9._-]*(?:\*[a-z0-9._-]*)*")
BARE = re.compile(r"[*._-]*")
MAX_INDEX = 255
PROXY = "write a proxy with its port, as in http://proxy.example.org:3128"


def checked_url(text: str) -> str:
    """The address without a slash at its end. Raises ValueError saying what is allowed.

    https anywhere, http only to this machine: a key must never travel in the open. Never with
    credentials in it, and never to link-local addresses, where clouds keep their own secrets.
    """
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("this is no address; write it like https://host:port/path") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise ValueError("an address must start with https:// and name a host")
    if "@" in parts.netloc:
        raise ValueError("an address must not hold credentials; put them in the environment")
    if parts.query or parts.fragment or re.search(r"[\s\\]", text):
        raise ValueError("an address ends with its path: no ?, no #, no blanks")
    local = _is_this_machine(host)
    if parts.scheme == "http" and not local:
        raise ValueError(f"plain http to {host!r} would show the key to the network; use https")
    return text.rstrip("/")


def checked_proxy(text: str) -> str:
    """The address of an HTTP proxy. Raises ValueError saying what is allowed.

    Plain http may be anywhere: what passes a proxy is closed from end to end.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(PROXY) from None
    if not host or not port or parts.scheme not in {"http", "https"}:
        raise ValueError(PROXY)
    if "@" in parts.netloc:
        raise ValueError("the address of a proxy must not hold credentials")
    if parts.path.strip("/") or parts.query or parts.fragment or re.search(r"[\s\\]", text):
        raise ValueError("the address of a proxy ends with its port")
    _is_this_machine(host)  # refuses what is no address of a service
    return text.rstrip("/")


def checked_index(name: str) -> str:
    """The name of an index, alias, data stream or pattern. Raises ValueError saying what is wrong.

    Refused is whatever could reach beyond what is written: `_all`, `*`, lists, exclusions, date
    math, other clusters, encoded characters.
    """
    if not INDEX.fullmatch(name) or BARE.fullmatch(name) or len(name) > MAX_INDEX:
        raise ValueError(
            f"{name!r} is no index name; write names like app-logs or patterns like app-logs-*, "
            "one by one: no _all, no list, no exclusion, no date math, no other cluster"
        )
    return name


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # A name that ends in a number is another way to write an address: 2852039166, 0x7f.1
        if NAME.fullmatch(host) and not host.lower().startswith("0x") and not host.isdigit():
            return False
        raise ValueError(
            f"{host!r} is no name of a host; write a name or a plain address"
        ) from None
    mapped = getattr(address, "ipv4_mapped", None) or address
    if mapped.is_loopback:
        return True
    if mapped.is_link_local or mapped.is_multicast or mapped.is_unspecified or mapped.is_reserved:
        raise ValueError(f"{host} is not the address of a service; link-local ones are refused")
    return False
