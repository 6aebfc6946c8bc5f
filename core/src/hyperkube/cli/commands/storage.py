"""hyperkube storage: look after the embedded store, also while a server uses it."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from hyperkube.cli.cluster.layout import Layout, default_data_dir
from hyperkube.hookspecs import storage
from hyperkube.hookspecs.storage import Upkeep
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext, load


@click.group()
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=default_data_dir,
    show_default="the local cluster's",
    help="a cluster's data folder, or an API server's --data-dir",
)
@click.option("--storage-backend", default="sqlite", show_default=True, help="the backend that made the store")
@click.pass_context
def command(context: click.Context, data_dir: Path, storage_backend: str) -> None:
    """Check, compact, back up or restore the embedded store."""
    own = Layout(data_dir.absolute()).store
    context.obj = (own if own.is_dir() else data_dir.absolute(), storage_backend)


@command.command()
@click.pass_obj
def check(place: tuple[Path, str]) -> None:
    """Read everything and say whether it is whole; a server may be using it."""
    click.echo(_upkeep(place).check())


@command.command()
@click.pass_obj
def compact(place: tuple[Path, str]) -> None:
    """Forget all history and give the space back; no server may be using it."""
    click.echo(_upkeep(place).compact())


@command.command()
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="replace the target if it exists")
@click.pass_obj
def backup(place: tuple[Path, str], target: Path, force: bool) -> None:
    """Save one consistent state to the file TARGET; a server may be using the store."""
    click.echo(_upkeep(place).backup(target, force=force))


@command.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="replace the store that is there")
@click.pass_obj
def restore(place: tuple[Path, str], source: Path, force: bool) -> None:
    """Make the backup SOURCE the store; no server may be using it."""
    click.echo(_upkeep(place).restore(source, force=force))


def _upkeep(place: tuple[Path, str]) -> Upkeep:
    folder, backend = place
    context = PluginContext(
        name=backend,
        clock=SystemClock(),
        logger=logging.getLogger("hyperkube.storage"),
        options={"data-dir": str(folder)},
    )
    found: Upkeep | None = load("storage", [backend], storage, lambda _name: context).hook.storage_upkeep()
    if found is None:
        raise UsageError(f"storage backend {backend!r} is not looked after by this command")
    return found
