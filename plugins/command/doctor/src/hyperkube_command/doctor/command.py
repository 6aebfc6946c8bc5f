"""hyperkube doctor: the command."""

from __future__ import annotations

from dataclasses import asdict

import click
import orjson
from hyperkube_command.doctor.looks import Finding, Verdict, examine
from hyperkube_command.doctor.machine import ThisMachine

_COLOURS = {Verdict.FINE: "green", Verdict.LIMITED: "yellow", Verdict.BROKEN: "red"}


@click.command()
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", help="how to print it")
@click.pass_context
def command(context: click.Context, output: str) -> None:
    """Say what this machine allows, and what that means for a cluster; exit with 1 if none can run.

    Example: hyperkube doctor
    """
    found = list(examine(ThisMachine()))
    if output == "json":
        click.echo(orjson.dumps([asdict(each) for each in found]).decode())
    else:
        for each in found:
            click.echo(line(each))
    context.exit(int(any(each.verdict is Verdict.BROKEN for each in found)))


def line(finding: Finding) -> str:
    """Return a finding as a line, with a second one for the remedy; click leaves colours out where none are shown."""
    verdict = click.style(f"{finding.verdict:8}", fg=_COLOURS[finding.verdict])
    first = f"{verdict} {finding.about:22} {finding.text}"
    return f"{first}\n{'':32}{click.style('→', dim=True)} {finding.remedy}" if finding.remedy else first
