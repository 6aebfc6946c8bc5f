"""hyperkube addons: what `hyperkube up` runs beside its servers, for clusters of another make, or on each node."""

from __future__ import annotations

from pathlib import Path

import click
from hyperkube_lib.addon_manager import AddonManager
from hyperkube_lib.local_cluster.access import cluster_client, cluster_options

from hyperkube.command.lifecycle import Lifecycle, stop_signal
from hyperkube.command.server_command import set_up_logging
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import installed
from hyperkube.plugin.settings import read_plugin_config

EXAMPLE = """
\b
Examples:
  hyperkube addons dns --kubeconfig admin.kubeconfig
  hyperkube addons network-policy --plugin-config node.toml
"""


@click.command(epilog=EXAMPLE)
@click.argument("names", nargs=-1, metavar="ADDON...")
@cluster_options
@click.option(
    "--plugin-config",
    type=click.Path(exists=True, dir_okay=False),
    help="YAML or TOML file with a table of settings per addon, named addon.NAME",
)
@click.option("--v", "-v", "verbosity", type=int, default=0, help="log level")
def command(
    names: tuple[str, ...], kubeconfig: Path | None, data_dir: Path | None, plugin_config: str | None, verbosity: int
) -> None:
    """Apply addons to a cluster and run what they serve until Ctrl-C.

    They act with the rights of the kubeconfig.
    """
    if not names:
        raise UsageError(f"name the addons to run (installed: {', '.join(sorted(installed('addon')))})")
    set_up_logging(verbosity)
    tables = read_plugin_config(plugin_config) if plugin_config else {}
    client = cluster_client(kubeconfig, data_dir)
    with stop_signal() as stopped, Lifecycle() as life:
        manager = AddonManager(names, client, SystemClock(), lambda name: tables.get(("addon", name), {}))
        life.start("the addons", manager)
        click.echo(f"running: {', '.join(names)}")
        stopped.wait()
