"""Times as log lines write them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.timestamps import Clock, instant, micros_of
from tests.connectors.logbook.conftest import DRAWN

WRITTEN = datetime(2026, 1, 20, 12, tzinfo=UTC)


def clock(**more: str) -> Clock:
    return Clock(WRITTEN, **more)  # type: ignore[arg-type] # only `sample` is passed


def read(line: str, reader: Clock | None = None) -> str | None:
    stamp = (reader or clock()).read(line)
    return instant(stamp.micros).isoformat().replace("+00:00", "Z") if stamp else None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2015-10-18 18:01:47,978 INFO [main] org.x.Y: z", "2015-10-18T18:01:47.978000Z"),
        ("2025-06-20T10:37:30.113Z [ERROR] auth - no", "2025-06-20T10:37:30.113000Z"),
        ("[2023-11-24T11:41:49.716+0000] {a.py:6} INFO - x", "2023-11-24T11:41:49.716000Z"),
        ("2024-01-25 08:08:56,382:1404:INFO:WorkQueue:x", "2024-01-25T08:08:56.382000Z"),
        ("2024-01-25T08:08:56.123456789+02:00 x", "2024-01-25T06:08:56.123456Z"),
        ("2024-01-25 08:08:56 -0130 x", "2024-01-25T09:38:56Z"),
        ("2024/01/25 08:08:56 [error] 7#7: x", "2024-01-25T08:08:56Z"),
        ("2024-01-02 03:04:05.123 UTC [77] ERROR: x", "2024-01-02T03:04:05.123000Z"),
        ("nova-api.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008 25 INFO", "2017-05-16T00:00:00.008000Z"),
        ("web_1  | 2024-01-25 08:08:56 x", "2024-01-25T08:08:56Z"),
        ("- 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS", "2005-06-03T22:42:50.675872Z"),
        ("1700000000 started", "2023-11-14T22:13:20Z"),
        ("1700000000.25 started", "2023-11-14T22:13:20.250000Z"),
        ("1700000000123 started", "2023-11-14T22:13:20.123000Z"),
        ("1700000000123456789 started", "2023-11-14T22:13:20.123456Z"),
        ("081109 203615 148 INFO dfs.DataNode: x", "2008-11-09T20:36:15Z"),
        ("081109 20:36:15 x", "2008-11-09T20:36:15Z"),
        ("17/06/09 20:10:40 INFO spark.X: y", "2017-06-09T20:10:40Z"),
        ("06/08/17 12:39:05 (1.0) Starting", "2017-06-08T12:39:05Z"),
        ("06/09/17 20:10:40 INFO x", "2006-09-17T20:10:40Z"),
        ("000 (123.000.000) 01/08 12:39:05 Job submitted", "2026-01-08T12:39:05Z"),
        ("Jan 14 15:16:01 combo sshd[19939]: x", "2026-01-14T15:16:01Z"),
        ("<34>Jan  4 15:16:01 combo su: x", "2026-01-04T15:16:01Z"),
        ("Dec 31 23:59:59 host a: b", "2025-12-31T23:59:59Z"),
        ("I0108 12:39:05.123456 1 file.go:12] x", "2026-01-08T12:39:05.123456Z"),
        ("01-08 12:39:05.123 D/Tag: x", "2026-01-08T12:39:05.123000Z"),
        ("20240125T080856Z x", "2024-01-25T08:08:56Z"),
        ("Fri Jun  9 11:53:48 GMT 2017", "2017-06-09T11:53:48Z"),
        ("Fri Jun  9 11:53:48 BST 2017", "2017-06-09T11:53:48Z"),
        ("====== Fri Jun  9 11:58:59 2017: done", "2017-06-09T11:58:59Z"),
        ("[Sun Dec 04 04:47:44.123456 2005] [error] x", "2005-12-04T04:47:44.123456Z"),
        ("======== job.sh at Fri Jun  9 11:53:48 GMT 2017 STARTING", "2017-06-09T11:53:48Z"),
        ("Local time : Fri Jun  9 11:53:48 2017", "2017-06-09T11:53:48Z"),
        ("Thu, 29 May 2025 12:41:59 +0200 x", "2025-05-29T10:41:59Z"),
        ('10.0.0.1 - bob [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2', "2000-10-10T20:55:36Z"),
        ("10-Oct-2000 13:55:36.123 INFO [main] x", "2000-10-10T13:55:36.123000Z"),
        ("level=info ts=2024-01-25T08:08:56Z msg=x", "2024-01-25T08:08:56Z"),
        ('time="2024-01-25T08:08:56Z" level=error', "2024-01-25T08:08:56Z"),
        ("Success! Status Code: 200, Time: 2025-06-20 13:14:30", "2025-06-20T13:14:30Z"),
        ("INFO: 2024-01-25 08:08:56 x", "2024-01-25T08:08:56Z"),
    ],
)  # fmt: skip
def test_a_shape_of_real_logs_is_read(line: str, expected: str) -> None:
    assert read(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "ERROR - no task (run_id='scheduled__2022-01-07T04:05:00+00:00')",
        "the certificate of the site expired at 2024-01-25 08:08:56",
        "Start Time:       Thu, 29 May 2025 12:41:59 +0200",
        "17:25:05.372 INFO  no date at all",
        "2024-13-45 08:08:56 no such day",
        "2015-02-29 08:08:56 no such day",
        "version 1.2.3 build 20240125",
        "10.251.73.220:50010 is added",
        "",
    ],
)
def test_what_is_not_the_time_of_the_line_is_left_alone(line: str) -> None:
    assert read(line) is None


def test_dates_without_a_year_follow_each_other_over_new_year() -> None:
    reader = clock()

    times = [read(f"{day} 10:00:00 host a: b", reader) for day in ("Dec 30", "Jan  2", "Dec 31")]

    assert times == ["2025-12-30T10:00:00Z", "2026-01-02T10:00:00Z", "2025-12-31T10:00:00Z"]
    assert reader.guessed_year == 3


def test_a_leap_day_without_a_year_takes_the_last_leap_year() -> None:
    assert read("Feb 29 10:00:00 host a: b") == "2024-02-29T10:00:00Z"


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("17/06/30 01:00:00 x", "2005-06-07T01:00:00Z"),
        ("06/30/17 01:00:00 x", "2007-05-06T01:00:00Z"),
    ],
)
def test_one_clear_date_settles_the_order_for_the_whole_file(sample: str, expected: str) -> None:
    assert read("05/06/07 01:00:00 (pid) x", clock(sample=sample)) == expected


def test_times_without_a_zone_are_taken_in_the_default_zone_and_counted() -> None:
    reader = Clock(WRITTEN, zone=ZoneInfo("Europe/Berlin"))

    assert read("2024-07-01 10:00:00 x", reader) == "2024-07-01T08:00:00Z"
    assert read("2024-10-27 02:30:00 twice", reader) == "2024-10-27T00:30:00Z"
    assert read("2024-07-01 10:00:00Z x", reader) == "2024-07-01T10:00:00Z"
    assert reader.no_zone == 2


def test_a_time_before_1970_is_not_believed() -> None:
    reader = clock()

    assert read("1901-01-01 00:00:00 x", reader) is None
    assert reader.unbelievable >= 1


def test_a_value_is_read_as_a_whole() -> None:
    reader = clock()

    assert reader.value("1447958708.71") == 1447958708_710000
    assert reader.value("1.447958708E9") == 1447958708_000000
    assert reader.value("2024-01-25T04:10:00+0100") == micros_of(
        datetime(2024, 1, 25, 3, 10, tzinfo=UTC)
    )
    assert reader.value("since 2024-01-25T04:10:00") is None
    assert reader.value("HIGH") is None


@DRAWN
@given(st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 30)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001 - the zone is drawn apart
def test_any_instant_survives_iso_in_any_zone(naive: datetime, minutes: int) -> None:
    moment = naive.replace(tzinfo=UTC)
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
    local = (moment + timedelta(minutes=minutes)).replace(tzinfo=None)

    stamp = clock().read(f"{local.isoformat(timespec='microseconds')}{zone} text")

    assert stamp
    assert instant(stamp.micros) == moment


@DRAWN
@given(st.text())
def test_no_line_breaks_the_clock(line: str) -> None:
    clock().read(line)
    clock().value(line)
