"""Alerts in: payloads become `Alert` values."""
