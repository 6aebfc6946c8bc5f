"""hyperkube reset: stop the local cluster and delete its data folder."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import click
from hyperkube_command.local_cluster.down import stop
from hyperkube_command.local_cluster.left_pods import build_runtime, end_pods
from hyperkube_lib.local_cluster.layout import Layout, default_data_dir
from hyperkube_lib.volume_mount import Mounter

from hyperkube.machinery.errors import UsageError


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=default_data_dir,
    show_default="XDG data folder",
    help="the cluster's data folder",
)
@click.option("--yes", "-y", is_flag=True, help="do not ask")
def command(data_dir: Path, yes: bool) -> None:  # fmt: skip
    """Stop the local cluster and delete its data folder: every object, certificate and pod of it."""
    layout = Layout(data_dir.absolute())
    if not layout.root.exists():
        click.echo("nothing to delete")
        return
    if not layout.lock_file.exists():
        raise UsageError(f"{str(layout.root)!r} is no data folder of hyperkube (it has no lock file)")
    if not yes:
        click.confirm(f"Delete {layout.root} and everything in it?", abort=True)
    stop(layout)
    with layout.locked():
        for line in end_pods(layout, partial(build_runtime, layout.kubelet)):
            click.echo(f"warning: {line}", err=True)
        unmount_volumes(layout)
        shutil.rmtree(layout.root)
    click.echo(f"deleted {layout.root}")


def unmount_volumes(layout: Layout) -> None:
    """Unmount what pods that were not stopped have left mounted: what lies below is not the cluster's to delete."""
    mounter = Mounter()
    for mount in mounter.mounts_below(str(layout.kubelet)):
        mounter.unmount(mount.path)
