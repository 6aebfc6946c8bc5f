"""The names and tags of what is made for a Service, and what the Service is told.

Source: kubernetes legacy-cloud-providers ``aws/aws_loadbalancer.go`` (buildTargetGroupName).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from hyperkube_cloud.aws.load_balancers.annotations import additional_tags
from hyperkube_cloud.aws.tags import owned_by
from hyperkube_lib.cloud_provider.services import service_name

from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of

SERVICE_TAG = "kubernetes.io/service-name"


def target_group_name(service: Object, port: int, node_port: int, protocol: str, attributes: Mapping[str, str]) -> str:
    """Return a target group's name, which differs where its unchangeable settings do."""
    digest = hashlib.sha256()
    for part in (uid_of(service), str(port), str(node_port), protocol, "instance"):
        digest.update(part.encode())
    for key, value in sorted(attributes.items()):
        digest.update(f"{key}={value}".encode())
    plain = [re.sub(r"[^a-zA-Z0-9]", "", part)[:8] for part in (namespace_of(service), name_of(service))]
    return f"k8s-{plain[0]}-{plain[1]}-{digest.hexdigest()[:10]}"


def status_of(dns_name: str) -> Object:
    """Return ``status.loadBalancer`` of a balancer with that name, empty until Amazon has given it one."""
    return {"ingress": [{"hostname": dns_name}]} if dns_name else {}


def tags_of(service: Object, cluster: str) -> dict[str, str]:
    """Return the tags of all that is made for a Service: its own further ones, then whose it is."""
    return {**additional_tags(service), SERVICE_TAG: service_name(service), **owned_by(cluster)}
