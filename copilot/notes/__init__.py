"""Incident notes: STATE.md and the git repository that keeps it."""
