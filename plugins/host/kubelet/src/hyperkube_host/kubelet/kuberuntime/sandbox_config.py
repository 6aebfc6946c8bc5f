"""The configuration of a pod's sandbox: what RunPodSandbox is asked for.

Sources: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_sandbox.go`` (generatePodSandboxConfig,
generatePodSandboxLinuxConfig), ``labels.go`` (newPodLabels, newPodAnnotations).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hyperkube_host.kubelet.kuberuntime.linux_resources import ResourceSettings, sandbox_resources
from hyperkube_host.kubelet.kuberuntime.pod_hostname import kernel_hostname
from hyperkube_host.kubelet.network.dns import DnsSettings, PodDns, pod_dns
from hyperkube_host.kubelet.sysctl import sysctl_name
from hyperkube_host.kubelet.types.labels import pod_labels
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of

from hyperkube.hookspecs.runtime import Config
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.objects import Object, annotations_of, labels_of, name_of, namespace_of, uid_of
from hyperkube.machinery.record import Record


class SandboxSettings(Record):
    """What sandboxes have from their node.

    Attributes:
        dns: the node's DNS settings.
        resources: its settings for limits.
        log_directory: (namespace, name, uid) → the folder of a pod's logs.
        cgroup_parent: pod → the cgroup of the pod as the runtime's driver spells it, or empty.
        user_namespace: pod → its ``UserNamespace``, None for the node's.
    """

    dns: DnsSettings
    resources: ResourceSettings
    log_directory: Callable[[str, str, str], str]
    cgroup_parent: Callable[[Object], str]
    user_namespace: Callable[[Object], Config | None]


def sandbox_config(pod: Object, attempt: int, settings: SandboxSettings) -> tuple[Config, PodDns]:
    """Return the ``PodSandboxConfig`` of a pod, and its DNS settings with their warnings.

    Raises:
        ConfigFailed: its full host name is too long.
    """
    dns = pod_dns(pod, settings.dns)
    metadata = {"name": name_of(pod), "namespace": namespace_of(pod), "uid": uid_of(pod)}
    config: dict[str, Any] = {
        "metadata": metadata | ({"attempt": attempt} if attempt else {}),
        "log_directory": settings.log_directory(namespace_of(pod), name_of(pod), uid_of(pod)),
        "dns_config": dns.config,
        "labels": {**labels_of(pod), **pod_labels(pod)},
        "annotations": dict(annotations_of(pod)),
        "linux": _linux(pod, settings),
    }
    if not pod["spec"].get("hostNetwork"):
        config["hostname"] = kernel_hostname(pod, settings.dns.domain)
    mappings = [_port_mapping(port) for container in _lasting(pod) for port in container.get("ports") or ()]
    if mappings:
        config["port_mappings"] = mappings
    return config, dns


def _lasting(pod: Object) -> list[Object]:
    """Return the containers that run as long as the pod does."""
    return [*containers_of(pod), *(init for init in init_containers_of(pod) if is_sidecar(init))]


def _port_mapping(port: Object) -> Config:
    fields = {"hostIP": "host_ip", "hostPort": "host_port", "containerPort": "container_port"}
    mapping = {name: port[field] for field, name in fields.items() if port.get(field)}
    protocol = port.get("protocol") or "TCP"
    return mapping if protocol == "TCP" else mapping | {"protocol": protocol}


def _linux(pod: Object, settings: SandboxSettings) -> Config:
    from hyperkube_host.kubelet.kuberuntime.security_context import (
        has_privileged_container,
        namespace_options,
        selinux_option,
        supplemental_groups,
    )

    context = pod["spec"].get("securityContext") or {}
    security: dict[str, Any] = {
        "namespace_options": namespace_options(pod, None, "", settings.user_namespace(pod)),
        "seccomp": {},  # RuntimeDefault: what the sandbox itself runs needs nothing else
        **supplemental_groups(context),
    }
    if has_privileged_container(pod):
        security["privileged"] = True
    for field, name in (("runAsUser", "run_as_user"), ("runAsGroup", "run_as_group")):
        if context.get(field) is not None:
            security[name] = {"value": context[field]}
    if context.get("seLinuxOptions"):
        security["selinux_options"] = selinux_option(context["seLinuxOptions"])
    overhead, resources = sandbox_resources(pod, settings.resources)
    linux: dict[str, Any] = {"security_context": security, "overhead": overhead, "resources": resources}
    parent = settings.cgroup_parent(pod)
    if parent:
        linux["cgroup_parent"] = parent
    sysctls = {sysctl_name(entry["name"]): entry["value"] for entry in context.get("sysctls") or ()}
    if sysctls:
        linux["sysctls"] = sysctls
    return linux
