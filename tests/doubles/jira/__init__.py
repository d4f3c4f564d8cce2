"""A strict double of Jira: Cloud (REST v3) and Data Center (REST v2) on loopback."""

from tests.doubles.jira.faults import Fault, from_recording
from tests.doubles.jira.jql import Clause, JqlRefused, Query, parse
from tests.doubles.jira.server import Jira
from tests.doubles.jira.site import Issue, Remark, Site

__all__ = [
    "Clause", "Fault", "Issue", "Jira", "JqlRefused", "Query", "Remark", "Site", "from_recording",
    "parse",
]  # fmt: skip
