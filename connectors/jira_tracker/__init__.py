"""Tickets of a Jira site, read over its REST API: Cloud (v3) and Data Center or Server (v2).

Begin with `tracker.py`. `door.py` is the only file that imports the `jira` package.
"""

from connectors.jira_tracker.calls import Clock, Patience
from connectors.jira_tracker.reach import Reached, reach
from connectors.jira_tracker.site import JiraSite
from connectors.jira_tracker.tracker import JiraTracker, open_jira
from connectors.jira_tracker.writing import OwnComment, put_comment, put_link

__all__ = [
    "Clock", "JiraSite", "JiraTracker", "OwnComment", "Patience", "Reached", "open_jira",
    "put_comment", "put_link", "reach",
]  # fmt: skip
