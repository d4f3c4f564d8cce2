"""What the process leaves with, in one table that the code and `copilot help exit-codes` share."""

OK = 0
FAILED = 1
USAGE = 2
INCONCLUSIVE = 3
CREDENTIALS = 4
BUDGET = 5
TIMEOUT = 124
INTERRUPTED = 130
TERMINATED = 143

MEANINGS = {
    OK: "done; for `investigate`: the report is written, whatever its verdict",
    FAILED: "failed; the message says what was tried and what to do next",
    USAGE: "the command or a settings file is wrong",
    INCONCLUSIVE: "`investigate --exit-code` only: the report is written and inconclusive; "
    "`serve`: another daemon has the workspace",
    CREDENTIALS: "a key is missing or was refused; or what was named does not exist",
    BUDGET: "`investigate`: a budget ended it; the report is written and says which",
    TIMEOUT: "`investigate --timeout`: stopped at that time; the same command resumes",
    INTERRUPTED: "stopped by the second Ctrl-C; the message says which command resumes",
    TERMINATED: "stopped by SIGTERM; the message says which command resumes",
}
