"""hyperkube storage: look after the embedded store, also while a server uses it."""

from __future__ import annotations

from pathlib import Path

import click
from hyperkube_lib.local_cluster.layout import default_data_dir
from hyperkube_lib.local_cluster.store_upkeep import store_folder, upkeep_at


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
    context.obj = (store_folder(data_dir), storage_backend)


@command.command()
@click.pass_obj
def check(place: tuple[Path, str]) -> None:
    """Read everything and say whether it is whole; a server may be using it."""
    click.echo(upkeep_at(*place).check())


@command.command()
@click.pass_obj
def compact(place: tuple[Path, str]) -> None:
    """Forget all history and give the space back; no server may be using it."""
    click.echo(upkeep_at(*place).compact())


@command.command()
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="replace the target if it exists")
@click.pass_obj
def backup(place: tuple[Path, str], target: Path, force: bool) -> None:
    """Save one consistent state to the file TARGET; a server may be using the store."""
    click.echo(upkeep_at(*place).backup(target, force=force))


@command.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="replace the store that is there")
@click.pass_obj
def restore(place: tuple[Path, str], source: Path, force: bool) -> None:
    """Make the backup SOURCE the store; no server may be using it."""
    click.echo(upkeep_at(*place).restore(source, force=force))
