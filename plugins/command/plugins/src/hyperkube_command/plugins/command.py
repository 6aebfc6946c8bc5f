"""hyperkube plugins: list, show, why, cost; new and check for those who write plugins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import orjson
from hyperkube_command.plugins.catalog import FAMILIES, PROGRAMS, catalog, entries, row_of
from hyperkube_lib.local_cluster.access import cluster_options

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names

_OUTPUT = click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", help="how to print it")
_FAMILY = click.option("--family", help="only this family (admission, controller, …)")


@click.group()
def command() -> None:
    """Look at the installed plugins; begin and check your own."""


@command.command("list")
@_FAMILY
@click.option("--hooks/--no-hooks", default=True, help="name the hooks of each plugin, which imports all of them")
@_OUTPUT
def list_plugins(family: str | None, hooks: bool, output: str) -> None:
    """List the installed plugins: family, name, distribution, version, enabled or not, hooks.

    Example: hyperkube plugins list --family admission
    """
    rows = catalog(_known(family), hooks=hooks)
    if output == "json":
        click.echo(orjson.dumps([asdict(row) for row in rows]).decode())
        return
    table = [("FAMILY", "NAME", "DISTRIBUTION", "VERSION", "ENABLED", *(["HOOKS"] if hooks else []))]
    for row in rows:
        enabled = "yes" if row.enabled else "no"
        shown = (row.family, row.name, row.distribution, row.version, enabled)
        table.append((*shown, *([", ".join(row.hooks) or _said(row.problem)] if hooks else [])))
    _print_table(table)


def _said(problem: str) -> str:
    return f"(cannot be loaded: {problem})" if problem else ""


def _print_table(table: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _known(family: str | None) -> str | None:
    known = sorted({*FAMILIES, *PROGRAMS})
    if family is not None and family not in known:
        raise UsageError(f"unknown family {family!r} ({known_names(family, known, 'families')})")
    return family


def _named(name: str, family: str | None) -> list[tuple[str, EntryPoint]]:
    """Return the plugins of a name with their families, of one family or all."""
    known = entries(_known(family), programs=True)
    found = (
        [row for row in known if row[1].name == name]
        or [row for row in known if row[1].name.lower() == name.lower()]
        or [row for row in known if row[0] == "server" and row[1].name == f"kube-{name}"]
    )
    if not found:
        near = _near(name, {entry.name for _, entry in known})
        raise UsageError(f"plugin {name!r} is not installed ({near}hyperkube plugins list shows all)")
    return found


def _near(name: str, known: Iterable[str]) -> str:
    question, found, _ = known_names(name, known).partition("?; ")
    return f"{question}?; " if found else ""


@command.command("show")
@click.argument("name")
@_FAMILY
def show(name: str, family: str | None) -> None:
    """Show one plugin: where it comes from, its hooks, its flags, and what its import costs.

    Example: hyperkube plugins show LimitRanger
    """
    from importlib.metadata import metadata

    from hyperkube_command.plugins.check import check_import, check_start
    from hyperkube_command.plugins.why import flags_of, reasons

    for word, entry in _named(name, family):
        row = row_of(word, entry, hooks=True)
        about = metadata(row.distribution)["Summary"] if row.distribution else ""
        lines = [
            ("Family", row.family),
            ("Name", row.name),
            ("Distribution", f"{row.distribution} {row.version}"),
            ("About", about or ""),
            ("Module", " ".join(text for _, text in check_import(row.family, entry))),
            *([] if word in PROGRAMS else [("Hooks", ", ".join(row.hooks) or _said(row.problem))]),
            *(("Flag", f"--{flag}: {text}") for flag, text in flags_of(row)),
            *(("Use", text) for text in reasons(row)),
            ("Import", " ".join(text for _, text in check_start(row.family, entry))),
        ]
        for title, text in lines:
            click.echo(f"{title + ':':14}{text}")


@command.command("why")
@click.argument("name")
@_FAMILY
def why(name: str, family: str | None) -> None:
    """Say whether `hyperkube up` uses a plugin, who decides that, and which flag changes it; of a server what it costs.

    Example: hyperkube plugins why AlwaysPullImages
    """
    from hyperkube_command.plugins.check import check_start
    from hyperkube_command.plugins.why import reasons

    for word, entry in _named(name, family):
        row = row_of(word, entry)
        click.echo(f"{row.family} plugin {row.name} of {row.distribution} {row.version}")
        for text in reasons(row):
            click.echo(f"  {text}")
        if word in PROGRAMS:
            click.echo(f"  its import costs {' '.join(text for _, text in check_start(word, entry))}")


@command.command("cost")
@_FAMILY
@cluster_options
@_OUTPUT
def cost(family: str | None, kubeconfig: Path | None, data_dir: Path | None, output: str) -> None:
    """Show what each plugin of a running cluster has taken: calls, the mean of one, and all of them.

    The API server and the scheduler measure every tenth call, the controller manager each key it works on.

    Example: hyperkube plugins cost --family admission
    """
    from hyperkube_command.plugins.cost import measured, table
    from hyperkube_lib.local_cluster.access import cluster_client

    from hyperkube.machinery.errors import from_status

    client = cluster_client(kubeconfig, data_dir)

    def fetch(path: str) -> bytes:
        answer = client.request("GET", path)
        if answer.status != 200:
            raise from_status(orjson.loads(answer.body))
        return answer.body

    costs, silent = measured(fetch, _known(family))
    if output == "json":
        click.echo(orjson.dumps([{**asdict(each), "mean": each.mean} for each in costs]).decode())
    else:
        _print_table(table(costs))
    for line in silent:
        click.echo(f"not measured: {line}", err=True)


@command.command("new")
@click.argument("family")
@click.argument("name")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="where to write it (default: NAME)")
def new(family: str, name: str, folder: Path | None) -> None:
    """Write a distribution with a plugin of FAMILY in it: module, flags, settings, tests on the family's contract.

    Example: hyperkube plugins new admission require-owner
    """
    from hyperkube_command.plugins.new import planned, write

    plugin = planned(family, name)
    place = folder or Path(plugin.distribution)
    write(plugin, place)
    for path in plugin.files():
        click.echo(place / path)
    click.echo(f"\nnext: pip install -e {place} && pytest {place} && hyperkube plugins check {plugin.distribution}")


@command.command("check")
@click.argument("distribution", required=False)
@click.option("--tests/--no-tests", default=True, help="run the tests of a distribution installed from a folder, too")
@_OUTPUT
@click.pass_context
def check(context: click.Context, distribution: str | None, tests: bool, output: str) -> None:
    """Check the plugins of DISTRIBUTION, or of all that are not hyperkube's own; the exit code tells.

    What is looked at: entry points, hook API, hooks and their arguments, flags, cost at start, and the promises of the
    family, which the distribution's own tests hold it to.

    Example: hyperkube plugins check require-owner
    """
    from hyperkube_command.plugins.check import Finding, Level, findings, foreign_distributions, plugins_of
    from hyperkube_command.plugins.contract import check_contract

    names = [distribution] if distribution else foreign_distributions()
    if not names:
        raise UsageError("nothing to check: no distribution with plugins is installed beside hyperkube's own")
    found: list[Finding] = []
    for name in names:
        plugins = plugins_of(name)
        for family, entry in plugins:
            found += findings(family, entry)
        if tests:
            family, entry = plugins[0]
            found += [Finding(name, "tests", level, text) for level, text in check_contract(family, entry)]
    if output == "json":
        click.echo(orjson.dumps([asdict(each) for each in found]).decode())
    else:
        _print_table([("PLUGIN", "CHECK", "RESULT", ""), *((f.plugin, f.check, str(f.level), f.text) for f in found)])
    context.exit(int(any(each.level is Level.WRONG for each in found)))
