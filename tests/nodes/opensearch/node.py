"""One real OpenSearch node: own folder, own port on loopback, gone when the tests are.

    with running(folder) as url: ...

The jars come from Maven Central through `mvn`, once, into the cache folder of the user; the small
launcher beside this file is compiled next to them. The node ends when its standard input does, so
that it never outlives the tests, however they end.
"""

import hashlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROGRAMS = {"java": "default-jdk-headless", "javac": "default-jdk-headless", "mvn": "maven"}
JVM = (
    "-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
    "-Djava.security.manager=allow", "-Dlog4j2.level=ERROR",
)  # fmt: skip
NO_NODE = "no OpenSearch node for these tests: "


@pytest.fixture(scope="session")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a real node, the same one for all tests; indices are theirs to name."""
    with running(tmp_path_factory.mktemp("opensearch")) as url:
        yield url


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Give the address of a node that keeps its data in *folder*. Skips where there can be none."""
    for program, package in PROGRAMS.items():
        if not shutil.which(program):
            pytest.skip(f"{NO_NODE}{program} is not installed (apt-get install {package})")
    jars = _jars()
    (folder / "config").mkdir(parents=True)
    with (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            ["java", *JVM, "-cp", f"{jars}/launcher:{jars}/*", "OneNode", str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=_environment(),
        )  # fmt: skip
    assert process.stdin
    assert process.stdout
    try:
        port = process.stdout.readline().decode().strip()  # printed when the node answers
        if not port:
            pytest.fail(f"the node did not start: {(folder / 'stderr').read_text()[-2000:]}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


def _jars() -> Path:
    """The folder with the jars and the launcher; one for each version of the files beside this."""
    recipe = b"".join((HERE / name).read_bytes() for name in ("pom.xml", "OneNode.java"))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "incident-copilot-tests"
    there = cache / f"opensearch-{hashlib.sha256(recipe).hexdigest()[:12]}"
    if there.is_dir():
        return there
    new = cache / f"new-{os.getpid()}"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    copied = _run(
        "mvn", "-B", "-q", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies",
        "-DincludeScope=runtime", f"-DoutputDirectory={new}",
    )  # fmt: skip
    if copied.returncode:
        pytest.skip(f"{NO_NODE}mvn could not fetch its jars: {copied.stdout[-300:].strip()}")
    built = _run("javac", "-cp", f"{new}/*", "-d", f"{new}/launcher", str(HERE / "OneNode.java"))
    assert not built.returncode, built.stdout
    try:
        new.rename(there)
    except OSError:  # another test session was faster
        shutil.rmtree(new)
    return there


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False, timeout=600, env=_environment(),
    )  # fmt: skip


def _environment() -> dict[str, str]:
    """The environment with the user's own home, where Maven keeps its settings and its copies."""
    return {**os.environ, "HOME": str(_home())}


def _home() -> Path:
    return Path(pwd.getpwuid(os.getuid()).pw_dir)
