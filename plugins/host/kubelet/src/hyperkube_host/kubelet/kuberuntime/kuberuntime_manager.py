"""Puts together what creates sandboxes and containers, with what these have from their node.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (NewKubeGenericRuntimeManager).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hyperkube_host.kubelet.cm.interface import ContainerManager, ContainerManagerFailed
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.images.image_manager import ImageManager
from hyperkube_host.kubelet.kuberuntime.container_config import ContainerSettings
from hyperkube_host.kubelet.kuberuntime.linux_resources import (
    ResourceSettings,
    container_linux_resources,
    resource_settings,
)
from hyperkube_host.kubelet.kuberuntime.resize_containers import ContainerResizer
from hyperkube_host.kubelet.kuberuntime.sandbox import SandboxManager
from hyperkube_host.kubelet.kuberuntime.sandbox_config import SandboxSettings
from hyperkube_host.kubelet.kuberuntime.service_hosts import ServiceHosts
from hyperkube_host.kubelet.kuberuntime.start_container import ContainerStarter, NodeSettings
from hyperkube_host.kubelet.kuberuntime.stop_container import ContainerStopper
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner
from hyperkube_host.kubelet.network.dns import (
    DnsSettings,
    lacks_cluster_dns,
    pod_dns,
    resolver_text,
    uses_node_resolver,
)
from hyperkube_host.kubelet.nodestatus.machine_info import MachineInfo
from hyperkube_host.kubelet.nodestatus.node_updater import NodeUpdater
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.options import PodOptions
from hyperkube_host.kubelet.userns.userns_manager import UserNamespaceManager
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld
from hyperkube_host.kubelet.volumemanager.selinux import Relabelling
from hyperkube_host.kubelet.volumemanager.sub_paths import SubPaths

from hyperkube.hookspecs.network import Network
from hyperkube.hookspecs.runtime import Config, Runtime, RuntimeFailed, TakesAddresses
from hyperkube.kinds.resources import RUNTIME_CLASSES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record

MOST_USER_NAMESPACES = 1024
"""Ranges of ids that are handed out; they end far below those that the kernel has."""


class RuntimeManagerInputs(NamedTuple):
    """What it is made of; `network` is for runtimes that leave pod networks to the kubelet."""

    options: PodOptions
    runtime: Runtime
    network: Network | None
    directories: KubeletDirectories
    objects: ObjectCache
    hooks: HandlerRunner
    stopper: ContainerStopper
    recorder: KubeletEventRecorder
    images: ImageManager
    host_ips: tuple[str, ...]
    machine: MachineInfo
    node: NodeUpdater
    container_manager: ContainerManager
    sub_paths: SubPaths
    volumes: ActualStateOfWorld


class RuntimeManager(Record):
    """The parts that create sandboxes and containers."""

    sandboxes: SandboxManager
    starter: ContainerStarter
    resizer: ContainerResizer


def build_runtime_manager(given: RuntimeManagerInputs) -> RuntimeManager:
    """Build it."""
    options, runtime = given.options, given.runtime
    resources = resource_settings(given.machine.capacity.memory, given.container_manager)
    dns = _dns_settings(options, given.host_ips)
    namespaces = UserNamespaceManager(
        given.directories, MOST_USER_NAMESPACES, partial(_supports_user_namespaces, runtime)
    )

    def user_namespace(pod: Object) -> Config | None:
        return namespaces.mappings(pod, _runtime_handler(given.objects, pod))

    sandboxes = SandboxManager(
        runtime,
        given.network,
        given.host_ips,
        given.recorder,
        _sandbox_settings(given.directories, dns, resources, given.container_manager, user_namespace),
        lambda pod: _runtime_handler(given.objects, pod),
    )
    settings = NodeSettings(
        node_ips=given.host_ips,
        allocatable=lambda: (given.node.node().get("status") or {}).get("allocatable") or {},
        resolver_file=_resolver(dns, runtime),
        containers=ContainerSettings(
            resources=resources,
            seccomp_root=options.seccomp_root,
            seccomp_default=options.seccomp_default,
        ),
        cluster_domain=options.cluster_domain,
        container_manager=given.container_manager,
        sub_paths=given.sub_paths,
        user_namespace=user_namespace,
        service_hosts=_service_hosts(given, dns),
        tells_address=isinstance(runtime, TakesAddresses),
        unprivileged_port_offset=options.unprivileged_port_offset,
        relabelling=Relabelling.on_this_node(given.volumes),
        master_service_namespace=options.master_service_namespace,
    )
    starter = ContainerStarter(
        runtime,
        given.images,
        given.directories,
        given.objects,
        given.hooks,
        given.stopper,
        given.recorder,
        settings,
        sandboxes.config,
    )
    resizer = ContainerResizer(
        runtime,
        lambda pod, container: container_linux_resources(
            pod, container, resources, given.container_manager.pre_create_container(pod, container)
        ),
        update_pod_cgroup=partial(_update_pod_cgroup, given.container_manager),
    )
    return RuntimeManager(sandboxes=sandboxes, starter=starter, resizer=resizer)


def _service_hosts(given: RuntimeManagerInputs, dns: DnsSettings) -> ServiceHosts:
    """Return what hosts files have of Services: nothing where pods reach a DNS server, or have names of their own."""
    domain = given.options.cluster_domain
    names_services = isinstance(given.runtime, TakesAddresses) and bool(domain)
    hosts = ServiceHosts(
        given.directories,
        given.objects.services,
        domain,
        lambda pod: names_services and lacks_cluster_dns(pod, dns),
    )
    if names_services and not dns.servers:
        given.objects.on_services(hosts.refresh)
    return hosts


def _update_pod_cgroup(manager: ContainerManager, pod: Object) -> None:
    """Set the limits of a resized pod's cgroup.

    Raises:
        RuntimeFailed: the kernel refused one.
    """
    try:
        manager.pods.update(pod)
    except ContainerManagerFailed as error:
        raise RuntimeFailed(str(error)) from error


def _sandbox_settings(
    directories: KubeletDirectories,
    dns: DnsSettings,
    resources: ResourceSettings,
    manager: ContainerManager,
    user_namespace: Callable[[Object], Config | None],
) -> SandboxSettings:
    return SandboxSettings(
        dns=dns,
        resources=resources,
        log_directory=lambda namespace, name, uid: str(directories.pod_logs(namespace, name, uid)),
        cgroup_parent=manager.pods.cgroup_parent,
        user_namespace=user_namespace,
    )


def _supports_user_namespaces(runtime: Runtime, handler: str) -> bool | None:
    """Tell whether a runtime handler has user namespaces; None for a runtime that tells nothing of handlers."""
    handlers = runtime.status().handlers
    if not handlers:
        return None
    found = next((one for one in handlers if one.get("name", "") == handler), {})
    return bool((found.get("features") or {}).get("user_namespaces"))


def _dns_settings(options: PodOptions, host_ips: tuple[str, ...]) -> DnsSettings:
    return DnsSettings(
        servers=options.cluster_dns, domain=options.cluster_domain, node_file=options.resolv_conf, node_ips=host_ips
    )


def _resolver(dns: DnsSettings, runtime: Runtime) -> Callable[[Object], str | None]:
    """Return pod → the text of its resolver file, None when the node's own one is used or the runtime writes it."""
    if not isinstance(runtime, TakesAddresses):
        return lambda _pod: None  # such a runtime writes the file itself, from the sandbox's DNS settings

    def text(pod: Object) -> str | None:
        own = not uses_node_resolver(pod, dns) or pod["spec"].get("dnsConfig")
        return resolver_text(pod_dns(pod, dns).config) if own else None

    return text


def _runtime_handler(objects: ObjectCache, pod: Object) -> str:
    """Return the runtime handler that the pod's RuntimeClass names.

    Raises:
        RuntimeFailed: there is no such RuntimeClass.
    """
    name = pod["spec"].get("runtimeClassName")
    if not name:
        return ""
    try:
        return str(objects.get(RUNTIME_CLASSES, "", name).get("handler", ""))
    except NotFound as error:
        text = f'failed to get sandbox runtime: unable to find runtime class "{name}": {error.message}'
        raise RuntimeFailed(text) from error
