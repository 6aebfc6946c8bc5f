"""The Node object as the kubelet registers it.

Sources: kubernetes ``pkg/kubelet/kubelet_node_status.go`` (initialNode), ``pkg/kubelet/nodestatus/setters.go``
(NodeAddress).
"""

from __future__ import annotations

import socket

from hyperkube_host.kubelet.nodestatus.machine_info import architecture, operating_system
from hyperkube_host.kubelet.options import NodeOptions

from hyperkube.hookspecs.cloud import InstanceMetadata
from hyperkube.kinds.taints import CLOUD_UNINITIALIZED
from hyperkube.machinery.objects import Object

PROVIDED_IPS = "alpha.kubernetes.io/provided-node-ip"
CONTROLLER_ATTACHES = "volumes.kubernetes.io/controller-managed-attach-detach"
KEEPS_VOLUMES = "volumes.kubernetes.io/keep-terminated-pod-volumes"


def node_addresses(options: NodeOptions) -> tuple[str, ...]:
    """Return the node's addresses: the one given, else the one that the machine's default route uses."""
    if options.ips:
        return options.ips
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # chooses a route, sends nothing
            return (str(probe.getsockname()[0]),)
        except OSError:
            return ("127.0.0.1",)


def initial_labels(options: NodeOptions) -> dict[str, str]:
    """Return the labels a node registers with."""
    system = operating_system()
    return {
        "beta.kubernetes.io/arch": architecture(),
        "beta.kubernetes.io/os": system,
        "kubernetes.io/arch": architecture(),
        "kubernetes.io/hostname": options.hostname,
        "kubernetes.io/os": system,
        **options.labels,
    }


def initial_annotations(options: NodeOptions) -> dict[str, str]:
    """Return the annotations a node registers with: who attaches volumes, and the addresses for its cloud to check.

    A node that keeps the volumes of pods that have ended tells the controller, which would detach them.
    """
    found = {CONTROLLER_ATTACHES: "true"} if options.controller_attaches else {}
    if options.keeps_volumes:
        found[KEEPS_VOLUMES] = "true"
    if options.external_cloud and options.ips:
        found[PROVIDED_IPS] = ",".join(options.ips)
    return found


def initial_node(options: NodeOptions, known: InstanceMetadata | None = None) -> Object:
    """Return the Node to register, without its status; `known` is what the kubelet's own cloud says of it."""
    spec: Object = {}
    labels = initial_labels(options)
    if known is not None:
        from hyperkube_lib.cloud_provider.nodes import machine_labels

        labels |= machine_labels(known)
    taints = list(options.taints)
    if not options.schedulable:
        spec["unschedulable"] = True
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    if options.external_cloud:
        # The cloud's controller lifts it once it has said what the node is.
        taints.append({"key": CLOUD_UNINITIALIZED, "value": "true", "effect": "NoSchedule"})
    if taints:
        spec["taints"] = taints
    if provider_id := options.provider_id or (known.provider_id if known else ""):
        spec["providerID"] = provider_id
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": options.name,
            "labels": labels,
            "annotations": initial_annotations(options),
        },
        "spec": spec,
    }
