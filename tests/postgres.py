"""A private PostgreSQL for tests: own folder, own port on loopback, gone when the tests are.

    with postgres.cluster() as server:
        url = server.new_database()

The server refuses to run as root, so under root it runs as another user of the machine.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal

import psycopg
import pytest

PLACES = ("/usr/lib/postgresql", "/usr/pgsql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")
OPTIONS = {"fsync": "off", "synchronous_commit": "on", "max_connections": "100"}
"""What is killed here is the server, never the machine: without fsync, nothing is lost either."""
USER = "copilot"


@dataclass
class Cluster:
    """One server. It may be stopped and started again; the address stays the same."""

    programs: Path
    folder: Path
    port: int
    _names: Iterator[int] = field(default_factory=lambda: count(1))

    def url(self, database: str = "postgres") -> str:
        """Return the address of *database* over loopback."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def socket_url(self, database: str = "postgres") -> str:
        """Return the address of *database* over the unix socket."""
        return f"postgresql://{USER}@/{database}?host={self.folder}&port={self.port}"

    def new_database(self) -> str:
        """Return the address of a new, empty database."""
        name = f"test_{next(self._names)}"
        with connected(self.url()) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = " ".join(f"-c {name}={value}" for name, value in OPTIONS.items())
        listen = f"-h 127.0.0.1 -p {self.port} -k {self.folder} {options}"
        self._control("start", "--wait", "--log", self.folder / "log", "--options", listen)

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop the server: `fast` breaks the connections, `immediate` is as if it was killed."""
        self._control("stop", "--wait", "--mode", mode)

    def _control(self, *arguments: object) -> None:
        self._run("pg_ctl", "--pgdata", self.folder / "data", *arguments)

    def create(self) -> None:
        """Make the files of an empty server."""
        self._run(
            "initdb", "--pgdata", self.folder / "data", "--username", USER, "--auth", "trust",
            "--encoding", "UTF8", "--locale", "C", "--no-sync",
        )  # fmt: skip

    def _run(self, program: str, *arguments: object) -> None:
        user = _other_user()
        # pg_ctl leaves its server behind, which would keep a pipe open: the output goes to a file.
        with tempfile.TemporaryFile() as output:
            done = subprocess.run(
                [str(self.programs / program), *(str(one) for one in arguments)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd="/",
                user=user and user.pw_uid, group=user and user.pw_gid,
                extra_groups=[] if user else None, check=False, timeout=60,
            )  # fmt: skip
            output.seek(0)
            assert done.returncode == 0, f"{program}: {output.read().decode(errors='replace')}"


def programs() -> Path | None:
    """Return the folder with the newest `initdb` of this machine, or None."""
    found = [path for place in PLACES for path in Path(place).glob("*/bin/initdb")]
    if on_path := shutil.which("initdb"):
        return Path(on_path).resolve().parent
    return max(found, key=lambda path: path.parts[-3].zfill(8)).parent if found else None


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Run a server for a while. Skips the test where PostgreSQL is not installed."""
    place = programs()
    if place is None:
        pytest.skip("PostgreSQL's server programs (initdb, pg_ctl) are not on this machine")
    if os.geteuid() == 0 and not _other_user():
        pytest.skip("PostgreSQL does not run as root, and there is no other user to run it as")
    # A socket's path is at most 107 bytes, and the server's user must reach it: not tmp_path.
    folder = Path(tempfile.mkdtemp(prefix="copilot-postgres-", dir="/tmp"))
    try:
        if user := _other_user():
            os.chown(folder, user.pw_uid, user.pw_gid)
        server = Cluster(place, folder, _free_port())
        server.create()
        server.start()
        try:
            yield server
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                server.stop("immediate")
    finally:
        shutil.rmtree(folder)


def _other_user() -> pwd.struct_passwd | None:
    """Return who runs the server when we are root."""
    if os.geteuid() != 0:
        return None
    everybody = {one.pw_name: one for one in pwd.getpwall()}
    return everybody.get("postgres") or everybody.get("nobody")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection]:
    """Return a connection of a database's owner, each statement a transaction of its own."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection
