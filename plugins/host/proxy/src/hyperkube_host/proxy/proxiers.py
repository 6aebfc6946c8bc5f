"""The proxier plugins of this node: the one that serves, and what others have left."""

from __future__ import annotations

import logging

from hyperkube_host.proxy.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.proxy.options import ProxyOptions

from hyperkube.hookspecs import proxier as specs
from hyperkube.hookspecs.base import MetricsRegistry, PluginContext
from hyperkube.hookspecs.proxier import ProxierHooks
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.loader import installed
from hyperkube.plugin.settings import PluginSettings

_log = logging.getLogger("hyperkube.proxy")


def build_host(
    options: ProxyOptions, clock: Clock, metrics: MetricsRegistry | None = None, mode: str = ""
) -> PluginHost[ProxierHooks]:
    """Load the proxier that ``--proxy-mode`` names, or another one.

    Raises:
        PluginNotFound: it is not installed; the message lists the installed ones.
    """
    name = mode or options.mode
    logger = logging.getLogger(f"hyperkube.proxier.{name}")
    settings = PluginSettings(NAME, FAMILIES, options.values, FLAGS)
    table = options.settings if name == options.mode else {}

    def context(plugin: str) -> PluginContext:
        given = settings.of("proxier", plugin, table)
        return PluginContext(
            name=plugin, clock=clock, logger=logger, settings=given, gates=options.gates, metrics=metrics
        )

    host = load("proxier", [name], specs, context)
    if name == options.mode:
        for line in settings.without_effect():
            _log.warning("%s", line)
    return host


def cleanup(options: ProxyOptions) -> None:
    """Remove all traces of every installed proxier from the node."""
    for name in sorted(installed("proxier")):
        _cleanup_one(options, name)


def cleanup_others(options: ProxyOptions) -> None:
    """Remove what proxiers of other modes have left, so that only one translates a service's addresses."""
    for name in sorted(installed("proxier").keys() - {options.mode}):
        _cleanup_one(options, name)


def _cleanup_one(options: ProxyOptions, name: str) -> None:
    host = build_host(options, SystemClock(), mode=name)
    try:
        proxier = host.hook.proxier_build()
    except UsageError as error:
        # What cannot run here has left nothing here either.
        _log.debug("proxier %s cannot clean up: %s", name, error)
    else:
        proxier.cleanup()
        proxier.close()
    finally:
        host.close()
