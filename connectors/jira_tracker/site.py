"""Where a Jira is and what we may see of it. Values only."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Deployment = Literal["auto", "cloud", "server"]

KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*-[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class JiraSite:
    """One Jira site, the account that asks it, and the projects that may be looked at."""

    url: str
    """As `copilot.addresses` allows it, without a slash at its end."""
    projects: tuple[str, ...]
    """Keys. Nothing of any other project is asked for, and nothing of one is passed on."""
    deployment: Deployment = "auto"
    """auto: the site is asked once what it is."""
    user: str = ""
    """With it the secret goes as basic authentication, without it as a bearer token."""
    proxy: str | None = None
    """An HTTP proxy that leads there."""
    ca_file: Path | None = None
    """Certificates to trust instead of the usual ones."""
    allow_jql: bool = False
    """Whether a search text may be `jql: …`."""
    connect_s: float = 5.0
    read_s: float = 15.0
    """Longest silence, in seconds."""
    whole_s: float = 45.0
    """For one answer, however steadily it drips."""

    def holds(self, key: str) -> bool:
        """True when the ticket *key* is of one of the projects."""
        return key.rpartition("-")[0].upper() in {project.upper() for project in self.projects}
