"""Loads the admission plugins in the order of the chain, with the settings of their configuration file."""

from __future__ import annotations

import logging
from collections.abc import Sequence

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
        UsageError: a name that is given is not installed.
    """
    if options.admission_control:
        return options.admission_control
    available = installed("admission")
    enabled, disabled = options.enable_admission_plugins, options.disable_admission_plugins
    unknown = [name for name in enabled if name not in available]
    if unknown:
        known = known_names(unknown[0], available)
        raise UsageError(f"enable-admission-plugins plugin {unknown[0]!r} is unknown ({known})")
    default_on = enabled_by_default("admission")
    if default_on is None:
        logger.info("no bundle is installed: only admission plugins that are enabled by name run")
    wanted = {name for name in default_on or () if name in available and name not in disabled} | set(enabled)
    return arranged("admission", sorted(wanted))
