"""What copilot.yaml may say, a module for each part of it. No secret is ever among it.

`workspace.py` holds the whole, `kinds.py` the kinds of value; `copilot/config.py` reads the file.
"""

from copilot.settings.workspace import (
    RUNBOOKS,
    AlertRule,
    LogbookSource,
    Settings,
    SettingsFile,
    Source,
    TrackerSource,
    settings_for,
)

__all__ = [
    "RUNBOOKS",
    "AlertRule",
    "LogbookSource",
    "Settings",
    "SettingsFile",
    "Source",
    "TrackerSource",
    "settings_for",
]
