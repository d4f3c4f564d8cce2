"""The public logs beside a developer's checkout: nothing lost, evidence where it should be."""

import gzip
from pathlib import Path

import pytest

from connectors.embedded_logbook import EmbeddedLogbook, Imported
from connectors.log_files.reader import AS_UTC, read_log
from connectors.log_files.record import Flags
from connectors.logbook import Filters, Search, physical_line

EVIDENCE = [
    ("loghub/Hadoop_2k.log", 848, "Address change detected"),
    ("loghub/Hadoop_2k.log", 1020, "NoRouteToHostException"),
    ("cms_wmcore/crab_job_5.log", 14835, "libboost_python-mt"),
    ("cms_wmcore/crab_job_5.log", 15498, "60311"),
    ("cms_wmcore/crab_job_5.log", 239, "GLIBC_2.14"),
    ("cms_wmcore/crab_job_5.log", 325, "cms:rhel6"),
    ("cms_wmcore/fwjr/ProcessingPerformanceFailed.json", 27, "6073036"),
    ("nezha/n1_basic_exception/09_27_log.csv.gz", 151, "catch price exception"),
    ("nezha/n2_contacts_return/08_44_log.csv.gz", 111, "No contacts according to contactsId"),
    ("threads/t01_acdc_rucio_lookup/WorkQueueManager_agent-s4.log", 7, "Data identifier not found in Rucio"),
    ("threads/t02_acdc_collection_timeout/reqmgrInteractionTask-workqueue-20240610.log", 1, "787209247"),
    ("threads/t03_schedd_limit/JobSubmitter_agent-0253.log", 8, "Failed to create new cluster"),
    ("threads/t06_local_vs_global_location/element_global.json", 6, "T2_US_Nebraska"),
    ("threads/t10_airflow_queued/scheduler.log", 4, "still running after 4 attempts"),
    ("threads/t12_tape_rules_block_archival/ms-rulecleaner.log", 8, "non final state: STUCK"),
    ("holmesgpt/investigate_06_job_failure/kubectl_logs_jzzdd.txt", 4, "prod-db:3333"),
    ("holmesgpt/investigate_15_dns_resolution/kubectl_logs_client_investigate-namespace-15.txt", 6, "NameResolutionError"),
]  # fmt: skip


def files(root: Path) -> list[Path]:
    return [p for p in sorted(root.rglob("*")) if p.is_file() and "truth" not in p.parts]


def physical(path: Path) -> list[str]:
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    lines = text.decode(errors="replace").split("\n")
    return lines[:-1] if text.endswith(b"\n") else lines


def test_no_line_of_any_file_is_lost_or_misplaced(shared_data: Path) -> None:
    for path in files(shared_data):
        lines = physical(path)
        with read_log(path, AS_UTC, Flags()) as found:
            records = list(found)

        assert sum(record.lines for record in records) == len(lines), path
        for record in records:
            if record.verbatim:
                for place, part in enumerate(record.message.split("\n")):
                    assert part.strip() in lines[record.line - 1 + place], path


def test_the_evidence_of_the_scenarios_is_found_on_its_line(
    shared_data: Path, tmp_path: Path
) -> None:
    book = EmbeddedLogbook(tmp_path / "l.db")
    sources = sorted({source for source, _, _ in EVIDENCE})
    done = list(book.import_files([shared_data / source for source in sources], shared_data))

    assert all(isinstance(item, Imported) for item in done)
    for source, line, quote in EVIDENCE:
        found = book.search(Search(Filters(sources=(source,), text=f'"{quote}"'), limit=10_000))
        lines = {
            physical_line(entry, offset)
            for entry in found.entries
            for offset in range(len(entry.message))
            if entry.message.startswith(quote, offset)
        }
        assert line in lines, (source, line, quote)


def test_an_element_of_the_work_queue_is_found_by_its_index(
    shared_data: Path, tmp_path: Path
) -> None:
    book = EmbeddedLogbook(tmp_path / "l.db")
    path = shared_data / "cms_wmcore" / "wq_available_elements.json"
    done = book.import_file(path, "elements.json")

    found = book.search(
        Search(Filters(fields={"RequestName": "ops02_ReDigiWorkF1_150929_090040_9049"}))
    )

    assert done.entries == 1114
    assert 4 in {entry.record for entry in found.entries}


@pytest.mark.parametrize("name", ["BGL", "HDFS", "Hadoop", "OpenStack", "Spark", "Zookeeper"])
def test_every_line_of_the_sample_logs_has_its_own_time_and_level(
    shared_data: Path, name: str
) -> None:
    with read_log(shared_data / "loghub" / f"{name}_2k.log", AS_UTC, Flags()) as found:
        records = list(found)

    assert len(records) == 2000
    assert all(record.time_flag == "own" and record.level for record in records)
