"""The report: its parts, the gate that every claim passes, and how it is written down."""
