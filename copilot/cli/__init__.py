"""The command line: one module a command group, each parses, calls, prints and names an exit code.

`ui.py` is the only module that prints. What a command does not need, it does not import.
"""


def main() -> None:
    """Run the command line on the process's arguments and leave with its exit code."""
    from copilot.cli.root import root
    from copilot.cli.streams import stand_in

    stand_in()
    root.main(prog_name="copilot")
