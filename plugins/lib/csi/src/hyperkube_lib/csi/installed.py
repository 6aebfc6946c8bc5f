"""The drivers that installed packages bring, built for the process that calls them."""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_lib.csi.driver import CsiDriver

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import installed, load_entry

FAMILY = "csi"
IN_PROCESS = "inprocess:"
"""What the endpoint of a driver begins with that is called within the process; its entry point follows."""


def installed_drivers(context: PluginContext) -> Mapping[str, CsiDriver]:
    """Return the drivers that are installed and configured, by their names.

    Args:
        context: of the plugin that calls them; each gets settings of its own.

    Raises:
        UsageError: two have one name.
        PluginLoadFailed: one cannot be imported, or has another shape.
    """
    found: dict[str, CsiDriver] = {}
    for entry in installed(FAMILY).values():
        driver: CsiDriver = load_entry(FAMILY, entry)(context.of_plugin(FAMILY, entry.name))
        if not driver.is_configured():
            continue
        if driver.driver_name in found:
            raise UsageError(f"two installed csi drivers have the name {driver.driver_name!r}")
        found[driver.driver_name] = driver
    return found
