"""Loads the admission plugins in the order of the chain, with the settings of their configuration file."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from hyperkube_host.apiserver.admission.configuration import settings_of
from hyperkube_host.apiserver.options import AdmissionOptions
from hyperkube_host.apiserver.plugins import ContextOf

from hyperkube.hookspecs import admission
from hyperkube.hookspecs.admission import AdmissionHooks
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.defaults import arranged, enabled_by_default
from hyperkube.plugin.loader import installed


def load_admission(options: AdmissionOptions, context: ContextOf, logger: logging.Logger) -> PluginHost[AdmissionHooks]:
    """Load the admission plugins in the order of the chain, with the settings of their configuration file."""
    names = admission_names(options, logger)
    settings = settings_of(options.admission_control_config_file, names)

    return load("admission", names, admission, lambda name: context("admission", name, settings.get(name)))


def admission_names(options: AdmissionOptions, logger: logging.Logger) -> Sequence[str]:
    """Return the enabled admission plugins in order.

    ``--admission-control`` gives names and order itself. Else: the default ones plus the enabled minus the disabled
    ones, in the bundle's order; those the bundle does not know come before the policies and webhooks.

    Raises:
        UsageError: a name that is given is not installed, is both enabled and disabled, or stands beside an order.
    """
    enabled, disabled = options.enable_admission_plugins, options.disable_admission_plugins
    if options.admission_control:
        if enabled or disabled:
            raise UsageError(
                "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"
            )
        return options.admission_control
    available = installed("admission")
    default_on = enabled_by_default("admission")
    _check_known("enable-admission-plugins", enabled, available)
    if default_on is not None:  # else nothing is there to be disabled, and what could be is not known
        _check_known("disable-admission-plugins", disabled, available)
    if both := sorted({*enabled} & {*disabled}):
        raise UsageError(f"[{' '.join(both)}] in enable-admission-plugins and disable-admission-plugins overlapped")
    if default_on is None:
        logger.info("no bundle is installed: only admission plugins that are enabled by name run")
    wanted = {name for name in default_on or () if name in available and name not in disabled} | set(enabled)
    return arranged("admission", sorted(wanted))


def _check_known(flag: str, names: Collection[str], available: Collection[str]) -> None:
    unknown = next((name for name in names if name not in available), "")
    if unknown:
        raise UsageError(f"{flag} plugin {unknown!r} is unknown ({known_names(unknown, available)})")
