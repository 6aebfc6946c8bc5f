"""hyperkube csi-driver: an installed CSI driver at a socket of its own, as a DaemonSet would serve it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names

if TYPE_CHECKING:
    from hyperkube_lib.csi import CsiDriver

HOST = "driver"
"""What flags of drivers call this command, where they name their hosts."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
@click.option("--endpoint", required=True, help="socket to serve at: unix:///PATH")
@click.option(
    "--registration-dir",
    default="",
    help="the kubelet's plugins_registry, to be used by that kubelet (/var/lib/kubelet/plugins_registry)",
)
def command(name: str, flags: tuple[str, ...], endpoint: str, registration_dir: str) -> None:
    """Serve the CSI driver NAME until a signal; FLAGS are the driver's own, such as --csi-host-path-dir=/srv/volumes.

    Example: hyperkube csi-driver csi-host-path --endpoint=unix:///run/csi.sock --csi-host-path-dir=/srv/volumes
    """
    driver = build_driver(name, flags)
    from hyperkube_lib.csi.server import CsiServer

    from hyperkube.command.lifecycle import Lifecycle, stop_signal

    with stop_signal() as stopped, Lifecycle() as life:
        server = CsiServer(driver, endpoint, registration_dir)
        life.on_close("the driver", server.close)
        server.start()
        click.echo(f"serving {driver.driver_name} at {endpoint}", err=True)
        stopped.wait()


def build_driver(name: str, words: Sequence[str]) -> CsiDriver:
    """Return an installed driver, configured by flags.

    Raises:
        PluginNotFound: it is not installed.
        UsageError: a flag that it does not have, a value that cannot be read, or one is missing.
    """
    from hyperkube_lib.csi.installed import FAMILY

    from hyperkube.hookspecs.base import PluginContext
    from hyperkube.plugin.flags import plugin_flags
    from hyperkube.plugin.loader import PluginNotFound, installed, load_entry
    from hyperkube.plugin.settings import PluginSettings

    drivers = installed(FAMILY)
    if name not in drivers:
        raise PluginNotFound(FAMILY, name, drivers)
    pairs = [word.removeprefix("--").partition("=") for word in words]
    given = {flag.replace("_", "-"): value if equals else "true" for flag, equals, value in pairs}
    own = [flag.name for plugin in plugin_flags(HOST, [FAMILY]) if plugin.name == name for flag in plugin.flags]
    for flag in given:
        if flag not in own:
            raise UsageError(f"unknown flag --{flag} of driver {name!r} ({known_names(flag, own, 'known')})")
    try:
        settings = PluginSettings(HOST, [FAMILY], given).of(FAMILY, name)
    except ValueError as error:
        raise UsageError(str(error)) from error
    driver: CsiDriver = load_entry(FAMILY, drivers[name])(PluginContext(name=name, settings=settings))
    if not driver.is_configured():
        raise UsageError(
            f"driver {name!r} is not configured: give its flags ({', '.join(f'--{flag}' for flag in own)})"
        )
    return driver
