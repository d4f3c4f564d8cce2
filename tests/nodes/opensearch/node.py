"""One real OpenSearch node: own folder, own port on loopback, gone when the tests are.

    with running(folder) as url: ...

The jars come from Maven Central through `mvn`, once, into the cache folder of the user; the small
launcher beside this file is compiled next to them. The node ends when its standard input does, so
that it never outlives the tests, however they end. `pytest --opensearch 3` runs the same tests over
the newest release instead of the last one for Java 17.
"""

import hashlib
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
JVMS = Path("/usr/lib/jvm")
"""Where Debian puts JDKs, one folder each."""
JVM = (
    "-Xms512m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dlog4j2.level=ERROR",
)
NO_NODE = "no OpenSearch node for these tests: "


@dataclass(frozen=True, slots=True)
class Release:
    """An OpenSearch, the least Java that it runs on, and what that is told. `folder`: launcher."""

    number: str
    java: int
    folder: str
    flags: tuple[str, ...] = ()


RELEASES: Mapping[str, Release] = {
    "2": Release("2.19.6", 11, "two", ("-Djava.security.manager=allow",)),
    "3": Release("3.9.0", 21, "three"),
}


@pytest.fixture(scope="session")
def opensearch(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Return the address of a real node, the same one for all tests; indices are theirs to name."""
    release: str = request.config.getoption("--opensearch")
    with running(tmp_path_factory.mktemp("opensearch"), release) as url:
        yield url


@contextmanager
def running(folder: Path, release: str = "2") -> Iterator[str]:
    """Give the address of a node that keeps its data in *folder*. Skips where there can be none."""
    wanted = RELEASES[release]
    if not shutil.which("mvn"):
        pytest.skip(f"{NO_NODE}mvn is not installed (apt-get install maven)")
    programs = _jdk(wanted)
    jars = _jars(wanted, programs)
    (folder / "config").mkdir(parents=True)
    with (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [f"{programs}/java", *JVM, *wanted.flags, "-cp", f"{jars}/launcher:{jars}/*",
             "OneNode", str(folder)],
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


def _jdk(release: Release) -> Path:
    """The folder of the programs of a JDK that is new enough. Skips where there is none.

    A Java that is far newer would do harm: the security manager that OpenSearch 2 wants is gone.
    So it is the oldest one that will do.
    """
    found: list[tuple[int, Path]] = []
    for described in sorted(JVMS.glob("*/release")):
        version = re.search(r'^JAVA_VERSION="(\d+)', described.read_text(), re.MULTILINE)
        programs = described.parent / "bin"
        if version and int(version[1]) >= release.java and (programs / "javac").exists():
            found.append((int(version[1]), programs))
    if not found:
        pytest.skip(
            f"{NO_NODE}OpenSearch {release.number} needs a JDK of Java {release.java} or newer "
            f"under {JVMS}, with javac (apt-get install default-jdk-headless)"
        )
    return min(found)[1]


def _jars(release: Release, programs: Path) -> Path:
    """The folder with the jars and the launcher; one for each version of the files beside this."""
    sources = [HERE / "Started.java", HERE / release.folder / "OneNode.java"]
    recipe = b"".join(path.read_bytes() for path in (HERE / "pom.xml", *sources))
    fingerprint = hashlib.sha256(recipe + release.number.encode()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "incident-copilot-tests"
    there = cache / f"opensearch-{fingerprint}"
    if there.is_dir():
        return there
    new = cache / f"new-{os.getpid()}"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    copied = _run(
        "mvn", "-B", "-q", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies",
        "-DincludeScope=runtime", f"-DoutputDirectory={new}", f"-Dopensearch={release.number}",
    )  # fmt: skip
    if copied.returncode:
        pytest.skip(f"{NO_NODE}mvn could not fetch its jars: {copied.stdout[-300:].strip()}")
    built = _run(
        f"{programs}/javac", "-cp", f"{new}/*", "-d", f"{new}/launcher", *map(str, sources)
    )
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
