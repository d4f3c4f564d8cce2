"""`python -m copilot` is the same as the `copilot` command."""

from copilot.cli import main

main()
