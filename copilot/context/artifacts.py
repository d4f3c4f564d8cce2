"""The way to `copilot.artifacts` for those who look for it beside the other context rooms."""

from copilot.artifacts import Artifact, find_artifacts

__all__ = ["Artifact", "find_artifacts"]
