"""The command line. A stub until the command groups are in; see `main`."""


def main() -> None:
    """Run the command line."""
    raise SystemExit("not wired yet")
