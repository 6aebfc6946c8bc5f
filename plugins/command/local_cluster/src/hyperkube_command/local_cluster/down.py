"""hyperkube down: stop the local cluster; its objects stay."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import click
from hyperkube_lib.local_cluster.layout import Layout, default_data_dir

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError

STOP_SECONDS = 15.0


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=default_data_dir,
    show_default="XDG data folder",
    help="the cluster's data folder",
)
def command(data_dir: Path) -> None:  # fmt: skip
    """Stop the local cluster; the next `hyperkube up` finds its objects again."""
    layout = Layout(data_dir.absolute())
    click.echo("stopped" if stop(layout) else "no cluster is running")


def stop(layout: Layout) -> bool:
    """End the `up` that holds the folder; tell whether there was one.

    Raises:
        UsageError: it belongs to another user, or does not end.
    """
    pid = layout.holder()
    if pid is None:
        return False
    try:
        os.kill(pid, signal.SIGTERM)
    except PermissionError as error:
        raise UsageError(f"process {pid} belongs to another user") from error
    except ProcessLookupError:
        return True
    clock = SystemClock()
    deadline = clock.monotonic() + STOP_SECONDS
    while layout.holder() == pid:
        if clock.monotonic() > deadline:
            raise UsageError(f"process {pid} did not end within {STOP_SECONDS:.0f} s")
        clock.sleep(0.05)
    return True
