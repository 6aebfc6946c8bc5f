"""The flags from which a driver over a cloud provider takes which cloud it is."""

from __future__ import annotations

from hyperkube.machinery.record import Record


class CloudSettings(Record):
    """Settings of such a driver.

    Attributes:
        cloud_provider: the cloud that the cluster is in.
        external_cloud_volume_plugin: the one whose volumes are served all the same where that is ``external``.
        hostname_override: the node's name, empty for the machine's. Only kubelets have it, and None is left to
            controllers, which talk to the cloud.
    """

    cloud_provider: str = ""
    external_cloud_volume_plugin: str = ""
    hostname_override: str | None = None

    def cloud(self) -> str:
        """Return the provider whose volumes are served; empty for none.

        Source: kubernetes 1.30 ``cmd/kube-controller-manager/app/cloudproviders.go`` (createCloudProvider).
        """
        if self.cloud_provider == "external":
            return self.external_cloud_volume_plugin
        return self.cloud_provider
