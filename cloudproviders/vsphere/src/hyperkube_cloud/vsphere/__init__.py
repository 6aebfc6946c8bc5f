"""vsphere: nodes that are virtual machines of one or several vCenters, their zones by tags, and virtual disks.

Provider ids, file names, annotations and defaults are those of Kubernetes' own provider, so that what a cluster has
already is found again and not made twice. There are no balancers and no routes: vSphere itself has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_cloud.vsphere.config import VCenterConfig, VSphereConfig, read_config
from hyperkube_cloud.vsphere.credentials import Credentials
from hyperkube_lib.cloud_provider.rest import HttpSend, RestCloud, Send

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.record import Record
from hyperkube.plugin import PluginContext

if TYPE_CHECKING:
    from hyperkube_cloud.vsphere.disks import VSphereDisks
    from hyperkube_cloud.vsphere.machines import Machines
    from hyperkube_cloud.vsphere.tags import Tags
    from hyperkube_cloud.vsphere.vcenter import VCenter
    from hyperkube_cloud.vsphere.zones import Zones

__all__ = ["VSphere"]


class Settings(Record):
    """The file with the provider's configuration, and the cluster's name."""

    cloud_config: str = ""
    cluster_name: str = "kubernetes"


class VSphere(RestCloud):
    """VMware vSphere."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._sessions: list[VCenter | Tags] = []

    def way(self, config: VCenterConfig) -> Send:
        """Return how a vCenter is reached."""
        return self.kept(
            HttpSend(
                lambda _renew: {},
                ca_file=config.ca_file,
                insecure=config.insecure_flag,
                fingerprint=config.thumbprint,
            )
        )

    def close(self) -> None:
        """End the sessions, and close the connections."""
        for each in self._sessions:
            each.log_out()
        super().close()

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider.

        Raises:
            UsageError: the configuration cannot be read.
        """
        from hyperkube_cloud.vsphere.instances import VSphereInstances
        from hyperkube_cloud.vsphere.machines import PROVIDER, Machines
        from hyperkube_cloud.vsphere.tags import Tags
        from hyperkube_cloud.vsphere.vcenter import VCenter
        from hyperkube_cloud.vsphere.zones import Zones

        settings = self.settings(Settings)
        config = read_config(settings.cloud_config)
        vcenters: dict[str, VCenter] = {}
        tags: dict[str, Tags] = {}
        for each in config.vcenters:
            send, credentials = self.way(each), Credentials(each, self.context.client)
            vcenters[each.server] = VCenter(send, each, credentials, self.context.clock)
            tags[each.server] = Tags(send, each.url, credentials, self.context.clock)
        self._sessions = [*vcenters.values(), *tags.values()]
        zones = Zones(config.labels, tags, self.context.clock)
        machines = Machines(list(vcenters.values()), self.context.client)
        disks = (
            _disks(config, vcenters[config.workspace.server], machines, zones, settings.cluster_name)
            if (config.workspace.server)
            else None
        )
        return Cloud(name=PROVIDER, instances=VSphereInstances(machines, config, zones), volumes=disks, disks=disks)


def _disks(config: VSphereConfig, vcenter: VCenter, machines: Machines, zones: Zones, cluster: str) -> VSphereDisks:
    from hyperkube_cloud.vsphere.datastores import Datastores
    from hyperkube_cloud.vsphere.disks import VSphereDisks
    from hyperkube_cloud.vsphere.dummy_machines import DummyMachines
    from hyperkube_cloud.vsphere.policies import Policies

    workspace, policies = config.workspace, Policies(vcenter)
    datastores = Datastores(vcenter, workspace.datacenter, workspace.default_datastore, zones, policies)
    dummies = DummyMachines(vcenter, workspace, policies)
    return VSphereDisks(vcenter, datastores, dummies, machines, zones, cluster=cluster, controller=config.controller)
