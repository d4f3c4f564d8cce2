"""An authority for tests, and what it signs: certificates of a server and of a client."""

import ssl
import subprocess
from pathlib import Path


def make(folder: Path, *names: str) -> Path:
    """Return *folder* with ca, server and client as .pem and .key; the server goes by *names*.

    Each is an OpenSSL name, as in `IP:127.0.0.1` or `DNS:api.example.org`.
    """

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=tests",
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=keyCertSign")  # fmt: skip
    for name in ("server", "client"):
        openssl(
            "req", *new, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}"
        )
        (folder / f"{name}.ext").write_text(f"subjectAltName={','.join(names)}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2",
                "-CAcreateserial", "-out", f"{name}.pem", "-extfile", f"{name}.ext")  # fmt: skip
    return folder


def server_side(folder: Path, *, mutual: bool = False) -> ssl.SSLContext:
    """Return the server's side of TLS; with *mutual* it wants the client's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    if mutual:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(folder / "ca.pem")
    return context
