"""hyperkube version: what this is and which Kubernetes API it speaks."""

from __future__ import annotations

import click

from hyperkube.command.server_command import version_line


@click.command()
def command() -> None:
    """Print the version."""
    click.echo(version_line())
