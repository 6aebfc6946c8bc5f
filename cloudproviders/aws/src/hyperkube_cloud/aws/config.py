"""The file of ``--cloud-config``: ini, as Kubernetes' provider has read it since 1.0.

Source: kubernetes ``staging/src/k8s.io/legacy-cloud-providers/aws/aws.go`` (CloudConfig), cloud-provider-aws
``pkg/providers/v1/config``.
"""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record


class ServiceOverride(Record):
    """Where another endpoint than Amazon's own is asked: a private region, a stand-in."""

    url: str
    region: str = ""
    signing_region: str = ""


class AwsConfig(Record):
    """All of it.

    Attributes:
        zone: of the cluster; its region follows from it. Without it the environment or the machine tells.
        vpc, subnet_id, route_table_id: what to use where tags do not tell.
        role_arn: a role that is assumed for all calls.
        cluster_id: the value behind ``kubernetes.io/cluster/`` in tags.
        elb_security_group: the one group of all balancers; without it each gets its own.
        disable_security_group_ingress: leave the machines' own groups alone.
        overrides: service (``ec2``, ``elasticloadbalancing``) → its endpoint.
    """

    zone: str = ""
    vpc: str = ""
    subnet_id: str = ""
    route_table_id: str = ""
    role_arn: str = ""
    cluster_id: str = ""
    elb_security_group: str = ""
    disable_security_group_ingress: bool = False
    overrides: Mapping[str, ServiceOverride] = MappingProxyType({})

    @property
    def region(self) -> str:
        """The region of the zone: ``us-east-1`` for ``us-east-1a``; empty without a zone."""
        return self.zone.rstrip("abcdefghijklmnopqrstuvwxyz") if self.zone else ""


_GLOBAL = {
    "zone": "zone",
    "vpc": "vpc",
    "subnetid": "subnet_id",
    "routetableid": "route_table_id",
    "rolearn": "role_arn",
    "kubernetesclusterid": "cluster_id",
    "kubernetesclustertag": "cluster_id",
    "elbsecuritygroup": "elb_security_group",
}
_WITHOUT_EFFECT = {"disablestrictzonecheck", "nodeipfamilies", "sourcearn"}


def read_config(path: str) -> AwsConfig:
    """Return what a file says; no file says nothing.

    Raises:
        UsageError: it cannot be read, or has an unknown key: one line that names the file.
    """
    if not path:
        return AwsConfig()
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(Path(path).read_text(encoding="utf-8"))
        return _parsed(parser)
    except (OSError, configparser.Error, ValueError) as error:
        raise UsageError(f"--cloud-config={path!r}: {error}") from error


def _parsed(parser: configparser.ConfigParser) -> AwsConfig:
    known: dict[str, str] = {}
    ingress = False
    overrides: dict[str, ServiceOverride] = {}
    for section in parser.sections():
        values = {key: value.strip().strip('"') for key, value in parser[section].items()}
        if section.lower() == "global":
            ingress = values.pop("disablesecuritygroupingress", "false").lower() == "true"
            if unknown := values.keys() - _GLOBAL.keys() - _WITHOUT_EFFECT:
                raise ValueError(f"[Global] has an unknown key {min(unknown)!r} (known: {', '.join(sorted(_GLOBAL))})")
            known |= {_GLOBAL[key]: value for key, value in values.items() if key in _GLOBAL and value}
        elif section.lower().startswith("serviceoverride"):
            if not values.get("service") or not values.get("url"):
                raise ValueError(f"[{section}] needs service and url")
            overrides[values["service"].lower()] = ServiceOverride(
                url=values["url"], region=values.get("region", ""), signing_region=values.get("signingregion", "")
            )
        else:
            raise ValueError(f'unknown section [{section}] (known: [Global], [ServiceOverride "1"])')
    return AwsConfig(**known, disable_security_group_ingress=ingress, overrides=overrides)
