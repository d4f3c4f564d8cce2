"""`copilot completion`: the script by which a shell completes our commands."""

import click

from copilot.cli.session import Session, pass_session

WHERE = {
    "bash": "copilot completion bash > ~/.local/share/bash-completion/completions/copilot",
    "zsh": 'copilot completion zsh > "${fpath[1]}/_copilot"',
    "fish": "copilot completion fish > ~/.config/fish/completions/copilot.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(WHERE)))
@pass_session
def command(session: Session, shell: str) -> None:
    r"""Print the completion script of SHELL; keep it where the shell looks for it.

    \b
    bash  copilot completion bash > ~/.local/share/bash-completion/completions/copilot
    zsh   copilot completion zsh > "${fpath[1]}/_copilot"
    fish  copilot completion fish > ~/.config/fish/completions/copilot.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from copilot.cli.root import root

    found = get_completion_class(shell)
    assert found is not None
    # The plain `source`: bash's own would start bash to ask for its version.
    script = ShellComplete.source(found(root, {}, "copilot", "_COPILOT_COMPLETE"))
    session.screen.page(script)
    session.screen.say(f"keep it with: {WHERE[shell]}")
