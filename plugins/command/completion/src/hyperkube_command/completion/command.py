"""hyperkube completion: the command."""

from __future__ import annotations

import click
from hyperkube_command.completion.scripts import SHELLS
from hyperkube_command.completion.words import table


@click.command()
@click.argument("shell", type=click.Choice(sorted(SHELLS)))
def command(shell: str) -> None:
    """Print a script that has SHELL complete hyperkube's commands and flags, as far as they are installed now.

    Example: source <(hyperkube completion bash)
    """
    click.echo(SHELLS[shell](table()), nl=False)
