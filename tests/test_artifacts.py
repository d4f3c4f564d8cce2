"""Identifiers are found verbatim, and ordinary prose has none."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.artifacts import Artifact, find_artifacts

PROSE = """
The workflow has stalled and nobody knows why. Please check the logs and/or the tracker first;
the client/server protocol uses UTF-8, TLS-1 and SHA-256, as RFC-2119 says. At 5 p.m. we saw it
once. It is self-explanatory (e.g. see above), state-of-the-art, and read-only. TCP/IP is fine.
Note: the answer is "yes", 50-50. Error handling was improved in the follow-up; no code changed.
"""


def kinds(text: str) -> dict[str, list[str]]:
    """Return the values found in *text*, by kind."""
    found: dict[str, list[str]] = {}
    for one in find_artifacts(text):
        found.setdefault(one.kind, []).append(one.value)
    return found


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("ticket", "CMSOPS-1234", "see CMSOPS-1234, please"),
        ("ticket", "dmwm/WMCore#11877", "as in dmwm/WMCore#11877."),
        ("workflow", "170608_123905", "task 170608_123905 job 5"),
        ("workflow", "170608_123905:user_crab_x", "(170608_123905:user_crab_x)"),
        (
            "workflow",
            "cmsunified_task_BPH-RunIISummer20UL18GEN-00268__v1_T_240429_202726_4136",
            "ERROR:cmsunified_task_BPH-RunIISummer20UL18GEN-00268__v1_T_240429_202726_4136: x",
        ),
        ("workflow", "a_task_B__v1_T_240429_202726_4136", "/acdc/a_task_B__v1_T_240429_202726_4136/0"),
        ("job", "application_1445144423722_0020", "application_1445144423722_0020 (PageRank)"),
        ("job", "attempt_1445144423722_0020_m_000000_0", "of attempt_1445144423722_0020_m_000000_0 is"),
        ("job", "4116027", "Job id: 4116027 was held"),
        ("site", "T2_US_Nebraska", '"T2_US_Nebraska",'),
        ("site", "T1_US_FNAL_Disk", "at T1_US_FNAL_Disk with"),
        ("dataset", "/MinBias/Summer12-START50_V13-v3/GEN-SIM", "in /MinBias/Summer12-START50_V13-v3/GEN-SIM."),
        (
            "dataset",
            "/DoubleElectron/Run2012D-v1/RAW#f5c79854-0ea9-11e2",
            "block=/DoubleElectron/Run2012D-v1/RAW#f5c79854-0ea9-11e2",
        ),
        ("path", "/srv/startup_environment.sh", "/srv/startup_environment.sh: line 132: PPID"),
        ("path", "~/crab/log.txt", "in ~/crab/log.txt"),
        ("url", "https://cmsweb.example.org/crabcache?x=1", "<https://cmsweb.example.org/crabcache?x=1>."),
        ("host", "cmsweb.example.org", "https://user@cmsweb.example.org/crabcache"),
        ("host", "msra-sa-41:9000", "[LeaseRenewer:me@msra-sa-41:9000] Address change"),
        ("host", "MININT-FNANLI5", "host MININT-FNANLI5 was"),
        ("host", "prod-db:3333", "cannot connect to prod-db:3333."),
        ("host", "redis:6379", "dial redis:6379 refused"),
        ("host", "nginx-service.test-ns", "resolve 'nginx-service.test-ns'"),
        ("host", "wn49.site-a.example.org", "on wn49.site-a.example.org ===="),
        ("ip", "10.190.173.170:9000", "Old: msra-sa-41/10.190.173.170:9000 New"),
        ("pod", "ts-order-service-5b67c48447-mv5hb", "pod ts-order-service-5b67c48447-mv5hb"),
        ("pod", "java-api-checker-jzzdd", "java-api-checker-jzzdd failed"),
        ("service", "ts-price-service", "ts-price-service is healthy"),
        ("exit code", "50660", '"exitCode": 50660'),
        ("exit code", "137", "the container exited with code 137."),
        ("exit code", "0", "process has an exit code of 0"),
        ("exit code", "60311", "job 5 ended with 60311; the user"),
        ("error code", "28", "OSError: [Errno 28] No space left on device"),
        ("error code", "28", "pycurl.error: (28, 'Operation timed out')"),
        ("error code", "99999", "mixed codes 50660, 40 and 99999."),
        ("http status", "503", 'HTTP/1.1" 503 941'),
        ("http status", "504", "returned 504 Gateway Timeout"),
        ("http status", "429", "HTTP 429 Too Many Requests"),
        ("hash", "8d11f0c3bec04b2ca11e81ec3fc63bef", "rule: 8d11f0c3bec04b2ca11e81ec3fc63bef in"),
        ("hash", "81e395e3-e2be-46a4-870d-9c775433c0bd", "[OrderId: 81e395e3-e2be-46a4-870d-9c775433c0bd]"),
        ("hash", "abc123f", "in commit abc123f, yesterday"),
        ("exception", "java.net.NoRouteToHostException", "Caused by: java.net.NoRouteToHostException: No"),
        ("exception", "ImportError", "ImportError: libboost"),
        ("exception", "OOMKilled", "state OOMKilled"),
        ("exception", "ECONNREFUSED", "connect ECONNREFUSED"),
        ("library", "libboost_python-mt.so.1.53.0", "ImportError: libboost_python-mt.so.1.53.0: cannot"),
        ("library", "GLIBC_2.14", "version `GLIBC_2.14' not found"),
        ("quantity", "6073036 kB", "RSS 6073036 kB over"),
        ("quantity", "270 s", "cut at 270 s each cycle"),
        ("quantity", ">750 MB", "collection is >750 MB; the"),
        ("quantity", "787209247 bytes", "with 787209247 bytes received"),
        ("quantity", "95%", "disk at 95% now"),
        ("quantity", "MAX_JOBS_SUBMITTED = 2147483647", "MAX_JOBS_SUBMITTED = 2147483647"),
        ("variable", "DEPLOY_ENV", "Environment variable DEPLOY_ENV is undefined"),
        ("variable", "DEPLOY_ENV", 'if [[ -z "${DEPLOY_ENV}" ]]'),
        ("time", "2015-10-18 18:05:27,570", "no progress since 2015-10-18 18:05:27,570"),
        ("time", "14:45:00 UTC", "changed at 14:45:00 UTC"),
        ("signal", "SIGKILL", "got SIGKILL"),
    ],
)  # fmt: skip
def test_it_is_found_verbatim(kind: str, value: str, text: str) -> None:
    """Each value is found whole in a sentence or a log line that holds it."""
    assert value in kinds(text).get(kind, [])


def test_prose_has_none() -> None:
    """Standards, fractions and hyphens are no identifiers."""
    assert find_artifacts(PROSE) == []


def test_values_come_once_in_the_order_of_appearance() -> None:
    """The second mention adds nothing."""
    found = find_artifacts("T2_US_Nebraska then exit code 137, OPS-7 and T2_US_Nebraska again")

    assert found == [
        Artifact("site", "T2_US_Nebraska"),
        Artifact("exit code", "137"),
        Artifact("ticket", "OPS-7"),
    ]


def test_the_time_that_a_line_begins_with_is_no_artifact() -> None:
    """It is the line's own; each line would bring one."""
    assert (
        find_artifacts("2015-10-18 18:05:27,570 WARN retry\n[2023-11-24T11:41:49.716+0000] x") == []
    )


def test_a_code_has_one_kind() -> None:
    """An exit code is not an error code too."""
    assert kinds("Return code 40 of cmsRun") == {"exit code": ["40"]}


def test_an_epoch_is_no_amount() -> None:
    """Machine times are everywhere and mean nothing to a person."""
    assert find_artifacts("ShadowBday = 1497009219, t=1674984408079") == []


@settings(max_examples=200)
@given(st.text(max_size=300))
def test_any_text_is_read_and_values_are_in_it(text: str) -> None:
    """Whatever the text, what is found is a part of it."""
    for one in find_artifacts(text):
        assert one.value in text


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "a-" * 199, "a." * 199, "/a" * 199, "a:" * 199, "Aa$" * 133, "1," * 100_000,
     "x=1" * 60_000, "lib" + "a+" * 190, "T1_US_" + "_" * 390, "\ud800" * 1000],
)  # fmt: skip
def test_a_hostile_line_costs_no_more_than_a_friendly_one(text: str) -> None:
    """No pattern backtracks without bounds."""
    started = time.process_time()

    find_artifacts(text)

    assert time.process_time() - started < 5


def test_what_a_stalled_job_turns_on_is_found() -> None:
    """Host, address and error of one log line, each under its own kind."""
    line = (
        "No Route to Host from MININT-FNANLI5/127.0.0.1:0 to msra-sa-41:9000 failed on x.y.ZError"
    )

    assert find_artifacts(line) == [
        Artifact("host", "MININT-FNANLI5"),
        Artifact("ip", "127.0.0.1:0"),
        Artifact("host", "msra-sa-41:9000"),
        Artifact("exception", "x.y.ZError"),
    ]


def test_real_logs_are_read_fast(shared_data: Path) -> None:
    """Several megabytes a second when the machine is ours; half the goal is asked for here."""
    log = (shared_data / "loghub" / "Hadoop_2k.log").read_text("utf-8", "replace")
    started = time.process_time()

    find_artifacts(log)

    assert len(log) / (time.process_time() - started) > 1_000_000
