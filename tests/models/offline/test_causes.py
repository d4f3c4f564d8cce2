"""The table of causes: which class a line speaks of."""

import pytest

from copilot.models.offline.causes import Strength, classes, sign_of

DIRECT = {
    "dial tcp: lookup db.internal on 10.0.0.2:53: no such host": "name_resolution",
    "java.net.UnknownHostException: store-7": "name_resolution",
    "connect to 10.1.1.1: No route to host": "network",
    "write /var/lib/x: no space left on device": "disk",
    "Disk quota exceeded": "disk",
    "EXT4-fs (sda1): Remounting filesystem read-only": "storage_device",
    "Killed process 811 (worker) total-vm: out of memory": "memory",
    "Job has exceeded maxRSS: 2000000": "memory",
    "CANCELLED AT 2031-05-06T05:59:58 DUE TO TIME LIMIT": "time_limit",
    "Operation timed out after 30000 milliseconds with 91234 bytes received": "size_timeout",
    "413 Request Entity Too Large: entity exceeds 1 MB": "size_timeout",
    "open /etc/key: permission denied": "permission",
    "password authentication failed for user app": "permission",
    "x509: certificate has expired or is not yet valid": "certificate",
    "error while loading shared libraries: libz.so.9": "library",
    "ModuleNotFoundError: No module named 'yaml'": "library",
    "Environment variable REGION is not set": "configuration",
    "run.sh: line 4: PORT: unbound variable": "configuration",
    'ERROR: syntax error at or near "FORM"': "syntax",
    "Data identifier not found in the catalogue: a/b/c": "missing_data",
    "FileNotFoundError: [Errno 2] No such file or directory: 'in.dat'": "missing_data",
    "column item.weight does not exist": "schema",
    "duplicate key value violates unique constraint": "duplicate",
    "deadlock detected between two transactions": "lock",
    "FATAL: sorry, too many clients already": "limit",
    "0/6 nodes are available: 6 Insufficient cpu": "limit",
    "worker exited: signal 15 (SIGTERM), warm shutdown": "lost_worker",
    "Failed to pull image shop/cart:9: manifest unknown": "image",
    "connect to db:5432 failed: Connection refused": "refused",
    "transfer not yet completed, will retry again in the next cycle": "waiting",
    "checksum mismatch in block 7": "corruption",
    "clock skew of 81 s against the peer": "clock",
    "Back-off restarting failed container": "restarts",
    "job 12 has failed": "consequence",
    "The job had an exit code of 0": "success",
}


@pytest.mark.parametrize(("line", "name"), DIRECT.items(), ids=lambda text: text[:30])
def test_a_line_is_of_the_class_that_it_names(line: str, name: str) -> None:
    assert (sign_of(line).name, sign_of(line).strength) == (name, Strength.DIRECT)


@pytest.mark.parametrize(
    "line",
    [
        "INFO planned route 1041",
        "Retrieved 12 elements for splitting",
        "EventProcessorFailureHandlerRegistry loaded",
        "openfile limits table rendered",
        "/srv/x.sh: line 4: BASHOPTS: readonly variable",
    ],
)
def test_an_ordinary_line_names_no_cause(line: str) -> None:
    assert sign_of(line).role != "cause" or sign_of(line).strength is not Strength.DIRECT


def test_every_class_says_what_it_is_and_what_would_settle_it() -> None:
    assert all(item.says and item.settle for item in classes())
    assert len({item.name for item in classes()}) == len(classes())
