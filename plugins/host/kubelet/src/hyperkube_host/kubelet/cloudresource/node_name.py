"""The name of a node whose kubelet talks to its cloud itself: the cloud says it, as in the 1.x line.

The cloud is told the host's name, or that of ``--hostname-override``, and may give it back.
Source: kubernetes 1.28 ``cmd/kubelet/app/server.go`` (getNodeName).
"""

from __future__ import annotations

from hyperkube_host.kubelet.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.kubelet.options import CLOUD_WORDS, KubeletOptions
from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.cloud import CurrentInstance
from hyperkube.machinery.errors import HyperkubeError, UsageError
from hyperkube.plugin.settings import PluginSettings


def named_by_cloud(options: KubeletOptions) -> KubeletOptions:
    """Return the options with the name that the cloud of ``--cloud-provider`` gives this machine.

    Without such a cloud, or with one that does not know on which machine it is asked, they stay as they are.

    Raises:
        UsageError: the cloud does not tell.
    """
    cloud = options.values["cloud-provider"]
    if cloud in CLOUD_WORDS:
        return options
    settings = PluginSettings(NAME, FAMILIES, options.values, FLAGS)
    context = PluginContext(name=cloud, settings=settings.of("cloud", cloud), settings_of=settings.of)
    provider = CloudProvider(context)
    try:
        built = provider.build(cloud)
        instances: object = built.instances if built is not None else None
        if not isinstance(instances, CurrentInstance):
            return options
        name = _asked(instances, options.node.hostname)
    finally:
        provider.close()
    return options if name == options.node.name else options.with_name(name)


def _asked(instances: CurrentInstance, hostname: str) -> str:
    try:
        name = str(instances.current_node_name(hostname))
    except (HyperkubeError, OSError) as error:
        raise UsageError(f"error fetching current node name from cloud provider: {error}") from error
    if not name:
        raise UsageError("error fetching current node name from cloud provider: it gives this machine none")
    return name
