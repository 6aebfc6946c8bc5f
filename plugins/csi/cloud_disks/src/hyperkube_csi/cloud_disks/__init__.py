"""The disks of a cloud provider as volumes: made, attached, grown, copied to snapshots and back, and mounted.

Kubernetes took its volume plugins for clouds out of its tree, and a driver for each took them over, by CSI. This is
such a driver for all providers: its name is that of the vendor's own driver, so the kinds that were in the tree
(``awsElasticBlockStore``, the provisioner ``kubernetes.io/aws-ebs`` …) are served by it, as are classes that name the
driver. Without a cloud there is no driver, and no more than this module is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hyperkube_lib.csi import CsiDriver
from hyperkube_lib.csi.cloud_settings import CloudSettings

if TYPE_CHECKING:
    from hyperkube_csi.cloud_disks.services import CloudServices

__all__ = ["CloudDisks"]
_NONE = frozenset({"", "auto-detect"})


class CloudDisks(CsiDriver):
    """The driver of the cloud that flags name; its services answer the calls."""

    @cached_property
    def in_cloud(self) -> CloudServices:
        """The cloud's services; only of a driver that is configured."""
        from hyperkube_csi.cloud_disks.services import CloudServices

        settings = self.settings(CloudSettings)
        return CloudServices(self.context, settings.cloud(), settings.hostname_override)

    def is_configured(self) -> bool:
        """Tell whether there is a cloud with disks.

        Raises:
            PluginNotFound: there is no such provider.
        """
        if self.settings(CloudSettings).cloud() in _NONE:
            return False
        self.driver_name = self.in_cloud.driver_name
        return self.in_cloud.is_configured()

    def call(self, service: str, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of one of the services."""
        return self.in_cloud.call(service, method, request)

    def close(self) -> None:
        """Close the cloud provider."""
        if "in_cloud" in vars(self):
            self.in_cloud.close()
