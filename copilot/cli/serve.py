"""`copilot serve`: the daemon, until SIGTERM."""

import click

from copilot.cli.session import Session, pass_session


@click.command("serve")
@click.option(
    "--listen", metavar="HOST:PORT", help="Where alerts come in; port 0 takes a free one."
)
@click.option("--workers", type=click.IntRange(1, 500), help="Investigations side by side.")
@click.option("--model", metavar="NAME", help="offline, auto, or a model's id.")
@pass_session
def command(session: Session, listen: str | None, workers: int | None, model: str | None) -> int:
    """Take alerts in, investigate them and write their reports, until SIGTERM.

    Alerts come to /v1/alerts/alertmanager, /v1/alerts/grafana and /v1/alerts/generic, into the
    spool folder, and from the pollers in copilot.yaml. SIGTERM or Ctrl-C once lets calls under way
    be recorded and leaves; a second one leaves at once. SIGHUP reads the settings again. Nothing
    is lost either way: the next start goes on.
    """
    from copilot.daemon.serve import serve

    keys = {"daemon.listen": listen, "daemon.workers": workers, "model.name": model}
    options = {key: value for key, value in keys.items() if value is not None}
    return serve(lambda: session.open(options), session.environ)
