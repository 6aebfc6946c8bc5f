"""The cloud provider that a plugin talks to: the one that ``--cloud-provider`` names.

Each controller builds its own: a provider keeps nothing that another controller needs, since it must be able to go on
after a crash of its host. ``external`` means that the loops of another process talk to the cloud.
Source: kubernetes ``staging/src/k8s.io/cloud-provider/plugins.go`` (InitCloudProvider).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from hyperkube_lib.cloud_provider.circuit import Circuit
from hyperkube_lib.cloud_provider.elsewhere import INSTEAD, NoProvider

from hyperkube.hookspecs import cloud as cloud_specs
from hyperkube.hookspecs.cloud import Cloud, CloudHooks
from hyperkube.plugin import PluginContext, PluginHost, load
from hyperkube.plugin.loader import installed

EXTERNAL = "external"


class CloudProvider:
    """Builds a provider for a plugin, and closes it."""

    def __init__(self, context: PluginContext) -> None:
        """Take the context of the plugin that talks to the cloud."""
        self._context = context
        self._host: PluginHost[CloudHooks] | None = None

    def build(self, name: str) -> Cloud | None:
        """Return the provider of that name; None where there is no cloud, or another process talks to it.

        All that it can do goes through one circuit.

        Raises:
            NoProvider: the cloud is known, and has none.
            PluginNotFound: it is not installed.
        """
        if name in {"", EXTERNAL}:
            return None
        if name in INSTEAD and name not in installed("cloud"):
            raise NoProvider(name)
        self._host = load("cloud", [name], cloud_specs, partial(self._context.of_plugin, "cloud"))
        return _guarded(self._host.hook.cloud_provider(), Circuit(self._context.clock))

    def close(self) -> None:
        """Close the provider, if one was built."""
        if self._host is not None:
            self._host.close()
            self._host = None


def _guarded(cloud: Cloud, circuit: Circuit) -> Cloud:
    return replace(
        cloud,
        load_balancers=cloud.load_balancers and circuit.guard(cloud.load_balancers),
        instances=cloud.instances and circuit.guard(cloud.instances),
        routes=cloud.routes and circuit.guard(cloud.routes),
        volumes=cloud.volumes and circuit.guard(cloud.volumes),
        disks=cloud.disks and circuit.guard(cloud.disks),
        file_shares=cloud.file_shares and circuit.guard(cloud.file_shares),
        clusters=cloud.clusters and circuit.guard(cloud.clusters),
    )
