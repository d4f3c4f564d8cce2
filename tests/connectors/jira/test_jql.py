"""Whatever a search says, its query holds it as one literal, and never leaves its projects."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.jira_tracker.jql import query_for
from connectors.jira_tracker.literal import literal, phrase
from connectors.jira_tracker.site import JiraSite
from connectors.tracker import TicketSearch
from copilot.errors import UsageError
from copilot.window import Window
from tests.doubles.jira.jql import Clause, Joined, Node, parse
from tests.doubles.jira.matching import _terms

SITE = JiraSite("https://jira.example.org", ("OPS", "AS"), allow_jql=True)
TEXTS = st.text(max_size=60) | st.text(alphabet="\"\\'() =~ORor", max_size=30)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def clauses(node: Node | None) -> list[Clause]:
    match node:
        case Clause():
            return [node]
        case Joined():
            return [clause for part in node.parts for clause in clauses(part)]
    return []


def jql(**search: object) -> str:
    return query_for(TicketSearch(**search), SITE, UTC).jql()  # type: ignore[arg-type] # test shorthand


@given(TEXTS)
@pytest.mark.bad_input("B48", "B49")
def test_any_text_is_one_literal_for_the_server_or_is_refused(text: str) -> None:
    try:
        written = literal(text)
    except UsageError:
        assert any(
            ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u2028\u2029" for c in text
        ) or any(0xD800 <= ord(c) < 0xE000 for c in text)
        return

    [clause] = clauses(parse(f"summary = {written}").where)

    assert clause.values == (text,)


@given(TEXTS.filter(lambda text: any(c.isalnum() for c in text)))
def test_any_phrase_is_one_phrase_without_operators(text: str) -> None:
    try:
        written = phrase(text)
    except UsageError:
        return

    [clause] = clauses(parse(f"text ~ {written}").where)

    assert len(_terms(clause.values[0])) == 1


@given(text=TEXTS, status=TEXTS, label=TEXTS)
def test_no_search_says_more_than_its_fields(text: str, status: str, label: str) -> None:
    search = TicketSearch(text=text, statuses=(status,), labels=(label,))
    try:
        query = query_for(search, SITE, UTC)
        both = [query.jql(), query.jql(any_term=True, keys=False)]
    except UsageError:
        return

    for written in both:
        where = parse(written).where
        assert isinstance(where, Joined)
        assert where.how == "and"
        assert where.parts[0] == Clause("project", "in", ("OPS", "AS"))
        assert {clause.field for clause in clauses(where)} <= {
            "project", "status", "labels", "text", "key",
        }  # fmt: skip
        assert sum(clause.field == "project" for clause in clauses(where)) == 1


@pytest.mark.parametrize(
    "text", ['x" OR project = SECRET OR text ~ "', 'x\\" OR project = SECRET', "') OR (1=1", "AS"]
)
@pytest.mark.bad_input("B48", "B49")
def test_an_injected_text_is_words_to_look_for(text: str) -> None:
    found = clauses(parse(jql(text=text)).where)

    assert [clause.values for clause in found if clause.field == "project"] == [("OPS", "AS")]
    assert {clause.field for clause in found} == {"project", "text"}


@pytest.mark.parametrize("project", ["SECRET", "SECRET,OPS", 'OPS") OR project in ("SECRET', ""])
@pytest.mark.bad_input("B50")
def test_a_project_out_of_scope_is_refused_and_those_in_scope_are_named(project: str) -> None:
    with pytest.raises(UsageError, match="OPS, AS"):
        jql(projects=(project,))


@pytest.mark.bad_input("B50", "B018")
def test_a_project_that_is_a_reserved_word_is_quoted() -> None:
    assert jql(projects=("as",)).startswith('project in ("AS") ')


def test_text_is_ranked_by_jira_and_everything_else_is_newest_first() -> None:
    assert "ORDER BY" not in jql(text="disk")
    assert jql().endswith(" ORDER BY updated DESC, key ASC")


def test_a_prefix_stays_a_prefix_and_an_identifier_a_phrase() -> None:
    values = [
        c.values[0] for c in clauses(parse(jql(text='agent* wf_1.2-x "out of disk"')).where)[1:]
    ]

    assert values == ["agent*", '"wf_1.2-x"', '"out of disk"']


def test_a_key_in_scope_is_also_looked_up_by_key() -> None:
    assert '(text ~ "\\"OPS-7\\"" OR key = "OPS-7")' in jql(text="OPS-7")
    assert "key =" not in jql(text="SECRET-7")


def test_words_beyond_the_most_are_counted() -> None:
    query = query_for(TicketSearch(text=" ".join(f"w{n}" for n in range(20))), SITE, UTC)

    assert (len(query.terms), query.left_out) == (12, 8)


@pytest.mark.parametrize("values", [("",), ("Open", " ")])
def test_an_empty_value_is_refused(values: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="empty value"):
        jql(statuses=values)


def test_a_window_is_widened_to_whole_minutes_of_the_accounts_zone() -> None:
    window = Window(NOON + timedelta(seconds=30), NOON + timedelta(minutes=5, seconds=1))

    query = query_for(TicketSearch(updated=window), SITE, ZoneInfo("Asia/Tokyo"))

    assert 'updated >= "2026-03-02 21:00" AND updated < "2026-03-02 21:06"' in query.jql()


@given(
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9))])),
    st.timedeltas(min_value=timedelta(seconds=1), max_value=timedelta(days=400)),
    st.sampled_from(["Europe/Zurich", "America/St_Johns", "Pacific/Kiritimati", None]),
)
def test_no_instant_of_a_window_is_outside_of_the_query(
    start: datetime, length: timedelta, name: str | None
) -> None:
    """Whatever zone Jira reads the text in when the account's is not known, and at clock changes."""
    try:
        window = Window(start.astimezone(UTC), (start + length).astimezone(UTC))
    except OverflowError:
        return
    zone = ZoneInfo(name) if name else None
    zones = [zone] if zone else [timezone(timedelta(hours=hours)) for hours in (-12, 0, 14)]

    written = clauses(parse(query_for(TicketSearch(updated=window), SITE, zone).jql()).where)[1:]

    for clause in written:
        bound = datetime.fromisoformat(clause.values[0])
        for read_in in zones:
            for fold in (0, 1):
                try:
                    read = bound.replace(tzinfo=read_in, fold=fold).astimezone(UTC)
                except OverflowError:
                    continue
                assert read <= window.start if clause.operator == ">=" else read >= window.end  # type: ignore[operator] # both ends are there


RAW = {
    "status = Open": '"status" = "Open"',
    "status = 'In Progress' and labels in (a, \"b c\")": '"status" = "In Progress" AND "labels" in ("a", "b c")',
    "not (summary ~ disk or updated >= -7d)": 'NOT ("summary" ~ "disk" OR "updated" >= "-7d")',
    "resolution is not empty AND cf[10010] = 5": '"resolution" is not EMPTY AND cf[10010] = "5"',
    "updated > startOfDay(-1d)": '"updated" > startOfDay("-1d")',
    "key NOT IN (OPS-1, OPS-2)": '"key" not in ("OPS-1", "OPS-2")',
    r"summary ~ 'it\'s \"x\" \\ \u0041'": r'"summary" ~ "it' + "'" + r's \"x\" \\ A"',
}  # fmt: skip


@pytest.mark.parametrize(("given", "written"), RAW.items())
def test_jql_that_is_allowed_is_written_anew_inside_the_scope(given: str, written: str) -> None:
    assert jql(text=f"jql: {given}") == (
        f'project in ("OPS", "AS") AND ({written}) ORDER BY updated DESC, key ASC'
    )


@pytest.mark.parametrize(
    "given",
    [
        "", "status", "status =", "status = Open)", "(status = Open", "status = Open) OR (project = X",
        'status = "Open', "status = Open ORDER BY key", "status was Open", "status changed",
        "issue in linkedIssues(SECRET-1)", "assignee = membersOf(x)", "status = Open;", "a = b c",
        "a = (b)", "and = b", "is empty", "a is b", "a not b", "(" * 50 + "a = b" + ")" * 50,
        "not " * 50 + "a = b", "a = " + "b" * 2000, 'a = "\x00"', "a = b -- c", "a = b /* c */", "a = {b}",
    ],
)  # fmt: skip
def test_jql_that_is_not_understood_is_refused(given: str) -> None:
    with pytest.raises(UsageError):
        jql(text=f"jql: {given}")


@given(st.text(max_size=40) | st.text(alphabet="ab\"'\\()=~, andor", max_size=40))
@pytest.mark.bad_input("B48", "B49")
def test_whatever_jql_passes_stays_inside_the_scope(given: str) -> None:
    try:
        written = jql(text=f"jql:{given}")
    except UsageError:
        return

    where = parse(written).where

    assert isinstance(where, Joined)
    assert (where.how, where.parts[0]) == ("and", Clause("project", "in", ("OPS", "AS")))


def test_jql_is_refused_where_nobody_allowed_it() -> None:
    site = JiraSite("https://jira.example.org", ("OPS",))

    with pytest.raises(UsageError, match="not allowed"):
        query_for(TicketSearch(text="JQL: status = Open"), site, UTC)
