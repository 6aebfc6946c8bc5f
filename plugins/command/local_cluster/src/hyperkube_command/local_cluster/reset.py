"""hyperkube reset: stop the local cluster and delete its data folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
from hyperkube_command.local_cluster.down import stop
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
        end_orphans(layout)
        unmount_volumes(layout)
        shutil.rmtree(layout.root)
    click.echo(f"deleted {layout.root}")


def unmount_volumes(layout: Layout) -> None:
    """Unmount what pods that were not stopped have left mounted: what lies below is not the cluster's to delete."""
    mounter = Mounter()
    for mount in mounter.mounts_below(str(layout.kubelet)):
        mounter.unmount(mount.path)


def end_orphans(layout: Layout) -> None:
    """End pod processes that an `up` which was killed left behind."""
    if not any(layout.kubelet.glob("*")):
        return
    from hyperkube.hookspecs import runtime as specs
    from hyperkube.plugin import PluginContext, PluginNotFound, load

    settings = {"root_dir": str(layout.kubelet)}
    try:
        host = load("runtime", ["process"], specs, lambda name: PluginContext(name=name, settings=settings))
    except PluginNotFound:
        return
    runtime = host.hook.runtime_build()
    for sandbox in runtime.sandboxes():
        runtime.stop_sandbox(sandbox.id)
        runtime.remove_sandbox(sandbox.id)
    runtime.close()
