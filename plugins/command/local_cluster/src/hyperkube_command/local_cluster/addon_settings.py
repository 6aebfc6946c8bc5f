"""What the addons of a local cluster are configured with: flags, a file, and where the cluster is.

The later wins: the defaults of an addon's flags, its table in ``--addon-config``, its flags by ``--addon-arg``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperkube_command.local_cluster.arguments import ClusterOptions

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names
from hyperkube.plugin.flags import plugin_flags
from hyperkube.plugin.settings import PluginSettings

HOST = "up"
"""What flags of addons call this command, where they name their hosts."""


def addon_settings(cluster: ClusterOptions) -> Callable[[str], Mapping[str, Any]]:
    """Return what gives each addon its settings.

    Raises:
        UsageError: ``--addon-arg`` names a flag that no installed addon has, or its value cannot be read.
    """
    given = _given(cluster.extra.get("addons", ()))
    known = {name for plugin in plugin_flags(HOST, ["addon"]) for flag in plugin.flags for name in (flag.name,)}
    for name in given:
        if name not in known:
            raise UsageError(f"--addon-arg: unknown flag {name!r} ({known_names(name, known, 'known')})")
    place = {"kubeconfig": str(cluster.layout.admin_kubeconfig), "data-dir": str(cluster.layout.root)}
    try:
        settings = PluginSettings(HOST, ["addon"], {**place, **given})
        configured = {
            name: settings.of("addon", name, cluster.addon_settings.get(("addon", name))) for name in cluster.addons
        }
    except ValueError as error:
        raise UsageError(f"--addon-arg: {error}") from error
    return lambda name: configured.get(name, {})


def _given(words: Sequence[str]) -> dict[str, str]:
    """Return flag → value of ``--flag=value`` words; without a value it is switched on."""
    pairs = (word.removeprefix("--").partition("=") for word in words)
    return {name.replace("_", "-"): value if equals else "true" for name, equals, value in pairs}
