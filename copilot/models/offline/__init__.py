"""The offline investigator: rules instead of a language model, for demos, tests and bad days."""

from copilot.models.offline.investigator import OfflineModel

__all__ = ["OfflineModel"]
