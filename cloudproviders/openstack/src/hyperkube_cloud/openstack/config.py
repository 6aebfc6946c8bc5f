"""The file of ``--cloud-config``: gcfg, as OpenStack's cloud controller manager reads it.

Source: cloud-provider-openstack ``pkg/openstack/openstack.go`` (Config), ``pkg/client/client.go`` (AuthOpts).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hyperkube_lib.cloud_provider.gcfg import fields_of, read_gcfg

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

SECTIONS: Final = ("global", "loadbalancer", "loadbalancerclass", "networking", "route", "blockstorage", "metadata")
CONFIG_DRIVE, METADATA_SERVICE = "configDrive", "metadataService"
_SECONDS: Final = re.compile(r"(\d+)(ms|s|m|h)?")
_OF_UNIT: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, None: 1}


class Access(Record):
    """``[Global]``: where Keystone is, and as whom it is asked."""

    auth_url: str = ""
    os_endpoint_type: str = "public"
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    username: str = ""
    user_id: str = ""
    password: str = ""
    tenant_id: str = ""
    tenant_name: str = ""
    trust_id: str = ""
    domain_id: str = ""
    domain_name: str = ""
    tenant_domain_id: str = ""
    tenant_domain_name: str = ""
    user_domain_id: str = ""
    user_domain_name: str = ""
    region: str = ""
    tls_insecure: bool = False
    application_credential_id: str = ""
    application_credential_name: str = ""
    application_credential_secret: str = ""

    def __repr__(self) -> str:
        return f"Access(auth_url={self.auth_url!r})"  # never what is secret


class BalancerClass(Record):
    """``[LoadBalancerClass "name"]``: networks that Services choose by that name."""

    floating_network_id: str = ""
    floating_subnet_id: str = ""
    floating_subnet: str = ""
    network_id: str = ""
    subnet_id: str = ""
    member_subnet_id: str = ""


class Balancers(BalancerClass):
    """``[LoadBalancer]``: what Services get that say nothing else; times as Go writes them."""

    enabled: bool = True
    lb_method: str = "ROUND_ROBIN"
    lb_provider: str = "amphora"
    create_monitor: bool = False
    monitor_delay: str = "5s"
    monitor_timeout: str = "3s"
    monitor_max_retries: int = 1
    monitor_max_retries_down: int = 3
    internal_lb: bool = False
    flavor_id: str = ""
    availability_zone: str = ""
    cascade_delete: bool = True
    enable_ingress_hostname: bool = False
    ingress_hostname_suffix: str = "nip.io"
    default_tls_container_ref: str = ""
    max_shared_lb: int = 2
    manage_security_groups: bool = False


class Networking(Record):
    """``[Networking]``: which of a machine's networks are the world's, and which the cluster's."""

    public_network_name: tuple[str, ...] = ()
    internal_network_name: tuple[str, ...] = ()
    ipv6_support_disabled: bool = False


class RouterOptions(Record):
    """``[Route]``: the router that leads to pods; there are no routes without one."""

    router_id: str = ""


class DiskOptions(Record):
    """``[BlockStorage]``: whether disks of any zone may be attached to any machine."""

    ignore_volume_az: bool = False


class MetadataOptions(Record):
    """``[Metadata]``: where a machine looks for what it is, in order."""

    search_order: str = f"{CONFIG_DRIVE},{METADATA_SERVICE}"

    def order(self) -> list[str]:
        """Return the places.

        Raises:
            ValueError: there is none, or what is none.
        """
        found = [each.strip() for each in self.search_order.split(",")]
        problem = "invalid value in section [Metadata] with key `search-order`."
        if not self.search_order:
            raise ValueError(f"{problem} Value cannot be empty")
        if len(found) > 2:
            raise ValueError(f"{problem} Value cannot contain more than 2 elements")
        if unknown := [each for each in found if each not in {CONFIG_DRIVE, METADATA_SERVICE}]:
            known = f'Supported elements include "{CONFIG_DRIVE}" and "{METADATA_SERVICE}"'
            raise ValueError(
                f'invalid element "{unknown[0]}" found in section [Metadata] with key `search-order`.{known}'
            )
        return found


class OpenStackConfig(Record):
    """All of it; `classes` by name."""

    access: Access = Access()
    balancers: Balancers = Balancers()
    classes: Mapping[str, BalancerClass] = MappingProxyType({})
    networking: Networking = Networking()
    router: RouterOptions = RouterOptions()
    disks: DiskOptions = DiskOptions()
    metadata: MetadataOptions = MetadataOptions()


_WITHOUT_EFFECT: Final = frozenset(
    {
        "use-octavia", "lb-version", "floating-subnet-tags", "container-store", "provider-requires-serial-api-calls",
        "use-clouds", "clouds-file", "cloud", "bs-version", "trust-device-path", "node-volume-attach-limit",
        "rescan-on-resize", "address-sort-order",
    }
)  # fmt: skip


def seconds(text: str) -> int:
    """Return a time of Go's in whole seconds.

    Raises:
        ValueError: it is none.
    """
    found = _SECONDS.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no time such as 5s or 1m")
    return int(int(found[1]) * _OF_UNIT[found[2]])


def read_config(path: str) -> OpenStackConfig:
    """Return what a file says; no file says nothing.

    Raises:
        UsageError: it cannot be read, or has an unknown key: one line that names the file.
    """
    sections = read_gcfg(path, known=SECTIONS)
    try:
        config = OpenStackConfig(
            access=fields_of(Access, "Global", sections.get(("global", ""), {}), _WITHOUT_EFFECT),
            balancers=fields_of(Balancers, "LoadBalancer", sections.get(("loadbalancer", ""), {}), _WITHOUT_EFFECT),
            classes={
                name: fields_of(BalancerClass, f'LoadBalancerClass "{name}"', values, _WITHOUT_EFFECT)
                for (kind, name), values in sections.items()
                if kind == "loadbalancerclass"
            },
            networking=fields_of(Networking, "Networking", sections.get(("networking", ""), {}), _WITHOUT_EFFECT),
            router=fields_of(RouterOptions, "Route", sections.get(("route", ""), {}), _WITHOUT_EFFECT),
            disks=fields_of(DiskOptions, "BlockStorage", sections.get(("blockstorage", ""), {}), _WITHOUT_EFFECT),
            metadata=fields_of(MetadataOptions, "Metadata", sections.get(("metadata", ""), {}), _WITHOUT_EFFECT),
        )
        for text in (config.balancers.monitor_delay, config.balancers.monitor_timeout):
            seconds(text)
        config.metadata.order()
    except ValueError as error:
        raise UsageError(f"--cloud-config={path!r}: {error}") from error
    if config.balancers.manage_security_groups:
        problem = "manage-security-groups is not built: open the node ports to the balancers' subnet instead"
        raise UsageError(f"--cloud-config={path!r}: [LoadBalancer] {problem}")
    return config
