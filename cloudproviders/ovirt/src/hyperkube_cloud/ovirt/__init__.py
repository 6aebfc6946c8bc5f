"""ovirt: nodes that are virtual machines of an oVirt engine; it has no balancers, routes or zones.

The engine is asked over its REST API: oVirt's own library (``ovirt-engine-sdk-python``) comes as source alone, whose
extension in C needs a compiler and the headers of libxml2.
Source: kubernetes 1.5 ``pkg/cloudprovider/providers/ovirt/ovirt.go``.
"""

from __future__ import annotations

from hyperkube_cloud.ovirt.config import OVirtConfig, read_config
from hyperkube_cloud.ovirt.engine import Engine, Tokens
from hyperkube_cloud.ovirt.instances import PROVIDER, OVirtInstances
from hyperkube_lib.cloud_provider.rest import HttpSend, RestCloud, Send

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.record import Record

__all__ = ["OVirt"]


class Settings(Record):
    """The file with the provider's configuration."""

    cloud_config: str = ""


class OVirt(RestCloud):
    """An oVirt engine."""

    def way(self, config: OVirtConfig) -> Send:
        """Return how the engine is reached, with tokens of its own single sign-on."""
        sign_on = self.kept(HttpSend(lambda _renew: {}, ca_file=config.ca_file, insecure=config.insecure))
        tokens = Tokens(sign_on, config)
        return self.kept(HttpSend(tokens.headers, ca_file=config.ca_file, insecure=config.insecure))

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider.

        Raises:
            UsageError: the configuration cannot be read.
        """
        config = read_config(self.settings(Settings).cloud_config)
        return Cloud(name=PROVIDER, instances=OVirtInstances(Engine(self.way(config), config.uri), config.vms))
