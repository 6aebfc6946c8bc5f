"""Azure Files as volumes: shares that many nodes mount, made, grown, deleted and mounted by SMB.

This is the driver that took over the kind ``azureFile``: classes of the provisioner ``kubernetes.io/azure-file`` are
served by it, and volumes of that kind are mounted by it. Outside Azure there is no driver.

Source: kubernetes ``pkg/volume/azure_file``; azurefile-csi-driver ``pkg/azurefile``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hyperkube_lib.csi import CsiDriver
from hyperkube_lib.csi.cloud_settings import CloudSettings

if TYPE_CHECKING:
    from hyperkube_csi.azure_file.services import AzureFileServices

__all__ = ["AzureFile"]
_CLOUD = "azure"


class AzureFile(CsiDriver):
    """The driver; its services answer the calls."""

    driver_name = "file.csi.azure.com"
    extra_create_metadata = True

    @cached_property
    def in_azure(self) -> AzureFileServices:
        """The services; only of a driver that is configured."""
        from hyperkube_csi.azure_file.services import AzureFileServices

        settings = self.settings(CloudSettings)
        return AzureFileServices(self.context, self.driver_name, _CLOUD, settings.hostname_override)

    def is_configured(self) -> bool:
        """Tell whether there is a cloud with shares; a node needs no credentials of it.

        Raises:
            PluginNotFound: the provider is not installed.
        """
        settings = self.settings(CloudSettings)
        in_azure = settings.cloud() == _CLOUD
        return in_azure and (settings.hostname_override is not None or self.in_azure.has_shares())

    def call(self, service: str, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of one of the services."""
        return self.in_azure.call(service, method, request)

    def close(self) -> None:
        """Close the cloud provider."""
        if "in_azure" in vars(self):
            self.in_azure.close()
