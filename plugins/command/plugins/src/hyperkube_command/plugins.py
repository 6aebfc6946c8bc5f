"""hyperkube plugins: what is installed, by whom, and which hooks it implements."""

from __future__ import annotations

from dataclasses import asdict

import click
import orjson

from hyperkube.plugin.catalog import catalog


@click.group()
def command() -> None:
    """Look at the installed plugins."""


@command.command("list")
@click.option("--family", help="only this family (admission, controller, …)")
@click.option("--hooks/--no-hooks", default=True, help="name the hooks of each plugin, which imports all of them")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", help="how to print it")
def list_plugins(family: str | None, hooks: bool, output: str) -> None:
    """List the installed plugins: family, name, distribution, version, enabled or not, hooks.

    Example: hyperkube plugins list --family admission
    """
    rows = catalog(family, hooks=hooks)
    if output == "json":
        click.echo(orjson.dumps([asdict(row) for row in rows]).decode())
        return
    table = [("FAMILY", "NAME", "DISTRIBUTION", "VERSION", "ENABLED", *(["HOOKS"] if hooks else []))]
    for row in rows:
        enabled = "yes" if row.enabled else "no"
        shown = (row.family, row.name, row.distribution, row.version, enabled)
        table.append((*shown, *([", ".join(row.hooks) or _said(row.problem)] if hooks else [])))
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _said(problem: str) -> str:
    return f"(cannot be loaded: {problem})" if problem else ""
