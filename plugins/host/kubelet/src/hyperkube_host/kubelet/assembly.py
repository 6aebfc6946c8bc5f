"""Puts a kubelet together: its plugins, then its services in the order in which they need one another.

Source of the order: kubernetes ``pkg/kubelet/kubelet.go`` (NewMainKubelet).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_host.kubelet.allocation.admission import Admission
from hyperkube_host.kubelet.allocation.allocation_manager import AllocationManager
from hyperkube_host.kubelet.allocation.state import AllocationState
from hyperkube_host.kubelet.clustertrustbundle.cluster_trust_bundle_manager import TrustAnchors, build_trust_anchors
from hyperkube_host.kubelet.cm.interface import ContainerManager
from hyperkube_host.kubelet.cm.unmanaged import UnmanagedContainerManager
from hyperkube_host.kubelet.config.apiserver_source import ApiSource
from hyperkube_host.kubelet.config.bootstrap_checkpoint import BootstrapCheckpoints
from hyperkube_host.kubelet.config.pod_sink import PodSource
from hyperkube_host.kubelet.config.sources import static_sources
from hyperkube_host.kubelet.directories import KubeletDirectories, pod_logs_dir
from hyperkube_host.kubelet.events import KubeletEventRecorder, build_recorder
from hyperkube_host.kubelet.housekeeping import Housekeeping
from hyperkube_host.kubelet.images.image_services import build_image_manager
from hyperkube_host.kubelet.kubelet_plugins import KubeletPlugins
from hyperkube_host.kubelet.kuberuntime.apparmor import apparmor_admission
from hyperkube_host.kubelet.kuberuntime.kuberuntime_manager import RuntimeManagerInputs, build_runtime_manager
from hyperkube_host.kubelet.kuberuntime.stop_container import ContainerStopper
from hyperkube_host.kubelet.kuberuntime.termination_message import TerminationMessages
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner
from hyperkube_host.kubelet.lifecycle.node_policy import node_policy
from hyperkube_host.kubelet.lifecycle.predicate import PodAdmission
from hyperkube_host.kubelet.network.iptables_util_chains import IptablesUtilChains
from hyperkube_host.kubelet.network.pod_cidr import PodCidr
from hyperkube_host.kubelet.node_managers import NodeManagers, build_node_managers
from hyperkube_host.kubelet.nodestatus.initial_node import node_addresses
from hyperkube_host.kubelet.nodestatus.machine_info import MachineInfo, machine_info
from hyperkube_host.kubelet.nodestatus.node_updater import NodeUpdater
from hyperkube_host.kubelet.nodestatus.runtime_state import RuntimeState
from hyperkube_host.kubelet.nodestatus.setters import NodeStatus
from hyperkube_host.kubelet.objects.change_detection import GET, check_strategy
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.objects.token_manager import TokenManager
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pleg.generic import GenericPleg
from hyperkube_host.kubelet.pluginmanager.socket_search import SocketSearch
from hyperkube_host.kubelet.pod.mirror_pods import MirrorPods
from hyperkube_host.kubelet.pod.pod_manager import PodManager
from hyperkube_host.kubelet.pod.restart_backoff import read_restart_delays
from hyperkube_host.kubelet.pod_workers.pod_worker import PodWorker
from hyperkube_host.kubelet.pod_workers.worker_services import WorkerServices
from hyperkube_host.kubelet.podcertificate.build import build_pod_certificates
from hyperkube_host.kubelet.podcertificate.pod_certificate_manager import GATE as POD_CERTIFICATES
from hyperkube_host.kubelet.podcertificate.pod_certificate_manager import PodCertificateManager
from hyperkube_host.kubelet.prober.prober_manager import ProbeManager
from hyperkube_host.kubelet.status.status_manager import StatusManager
from hyperkube_host.kubelet.sync_queue import SyncQueue, Task
from hyperkube_host.kubelet.sysctl import SysctlAllowlist
from hyperkube_host.kubelet.types.allocation import with_allocation
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld
from hyperkube_host.kubelet.volumemanager.attachment import Attachments
from hyperkube_host.kubelet.volumemanager.mount_labels import GATE, MountLabels
from hyperkube_host.kubelet.volumemanager.mount_volume import VolumeMounter
from hyperkube_host.kubelet.volumemanager.node_expansion import NodeExpansion
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolumes
from hyperkube_host.kubelet.volumemanager.reconstruction import Reconstruction
from hyperkube_host.kubelet.volumemanager.selinux import SELinux
from hyperkube_host.kubelet.volumemanager.sub_paths import SimulatedSubPaths, SubPathMounts
from hyperkube_host.kubelet.volumemanager.volume_manager import VolumeManager

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.hookspecs.runtime import Runtime, Simulated, TellsRuntimeConfig
from hyperkube.hookspecs.volume import TakesDrivers
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.record import Record

if TYPE_CHECKING:
    from hyperkube_host.kubelet.cloudresource.cloud_request_manager import CloudRequestManager

_log = logging.getLogger("hyperkube.kubelet")


class KubeletServices(Record):
    """The parts of a kubelet.

    Attributes:
        services: the informer of Services; None without an API server, and for a simulated runtime.
        mirrors: None without an API server.
        util_chains: None unless wanted, and where pods are not containers with networks of their own.
    """

    recorder: KubeletEventRecorder
    directories: KubeletDirectories
    services: Informer | None
    objects: ObjectCache
    tokens: TokenManager
    pod_certificates: PodCertificateManager
    trust_anchors: TrustAnchors
    node: NodeUpdater
    pod_cidr: PodCidr
    pods: PodManager
    mirrors: MirrorPods | None
    probes: ProbeManager
    stopper: ContainerStopper
    worker: PodWorker
    volumes: VolumeManager | None
    container_manager: ContainerManager
    pleg: GenericPleg
    housekeeping: Housekeeping
    drivers: SocketSearch
    node_managers: NodeManagers
    util_chains: IptablesUtilChains | None
    sources: tuple[PodSource, ...]


def _container_manager(
    options: KubeletOptions,
    machine: MachineInfo,
    runtime: Runtime,
    client: Client | None,
    recorder: KubeletEventRecorder,
    clock: Clock,
    devices_changed: Callable[[], None],
    plugins: KubeletPlugins,
) -> ContainerManager:
    """Return what gives pods their place: cgroups where the runtime has them in common with the kubelet."""
    if not isinstance(runtime, TellsRuntimeConfig):
        return UnmanagedContainerManager()
    from hyperkube_host.kubelet.cm.build import container_manager_for
    from hyperkube_host.kubelet.pluginmanager.driver_handler import DriverHandler

    drivers = {
        kind.driver_type: DriverHandler(kind, options.node.name)
        for _, kind in plugins.volumes
        if isinstance(kind, TakesDrivers)
    }
    return container_manager_for(options, machine, runtime, client, recorder, clock, devices_changed, drivers)


class _Foundation(Record):
    """What everything else stands on: the node, where things lie, and who tells of what happens."""

    options: KubeletOptions
    plugins: KubeletPlugins
    client: Client | None
    clock: Clock
    queue: SyncQueue
    directories: KubeletDirectories
    recorder: KubeletEventRecorder
    host_ips: tuple[str, ...]
    machine: MachineInfo
    container_manager: ContainerManager
    pods: PodManager
    node_managers: NodeManagers
    pleg: GenericPleg
    state: RuntimeState
    node: NodeUpdater
    volumes: ActualStateOfWorld


def _foundation(
    options: KubeletOptions, plugins: KubeletPlugins, client: Client | None, clock: Clock, queue: SyncQueue
) -> _Foundation:
    runtime = plugins.runtime
    recorder = build_recorder(options, client, clock)
    host_ips = node_addresses(options.node)
    changed = partial(queue.add, Task.SYNC_NODE)
    machine = machine_info(options.pods.root, runtime)
    container_manager = _container_manager(options, machine, runtime, client, recorder, clock, changed, plugins)
    pods = PodManager(queue.sync_pod, queue.shorten_grace, read_restart_delays(options.values))
    evented = options.server.gates.get("EventedPLEG", False)
    pleg = GenericPleg(runtime, clock, queue.sync_pod, pods.observed, evented=evented)
    directories, volumes = KubeletDirectories(options.pods.root, pod_logs_dir(options.values)), ActualStateOfWorld()
    managers = build_node_managers(
        options, runtime, clock, recorder, directories, pods, queue, volumes, container_manager
    )
    state = RuntimeState(runtime, plugins.network, clock, pleg.unhealthy, managers.shutdown.problem)
    cloud = _cloud(plugins, options, clock)
    status = NodeStatus(
        options.node,
        runtime,
        machine,
        host_ips,
        state,
        container_manager.node_resources,
        managers.evictions.conditions,
        volumes.volumes_in_use,
        cloud,
    )
    return _Foundation(
        options=options,
        plugins=plugins,
        client=client,
        clock=clock,
        queue=queue,
        directories=directories,
        recorder=recorder,
        host_ips=host_ips,
        machine=machine,
        container_manager=container_manager,
        pods=pods,
        node_managers=managers,
        pleg=pleg,
        state=state,
        node=NodeUpdater(client, options.node, clock, recorder, status, cloud),
        volumes=volumes,
    )


def _cloud(plugins: KubeletPlugins, options: KubeletOptions, clock: Clock) -> CloudRequestManager | None:
    """Return what asks the cloud about the node, where the kubelet is to do so and the cloud knows machines."""
    if plugins.cloud is None or plugins.cloud.instances is None:
        return None
    from hyperkube_host.kubelet.cloudresource.cloud_request_manager import CloudRequestManager

    return CloudRequestManager(plugins.cloud, options.node, clock)


class _VolumeSources(Record):
    """What the files of volumes are made of."""

    objects: ObjectCache
    tokens: TokenManager
    certificates: PodCertificateManager
    trust_anchors: TrustAnchors


def _worker_services(base: _Foundation, sources: _VolumeSources) -> WorkerServices:
    objects, tokens = sources.objects, sources.tokens
    pods, runtime, clock, queue, recorder, directories = (
        base.pods, base.plugins.runtime, base.clock, base.queue, base.recorder, base.directories,
    )  # fmt: skip
    simulated, root = isinstance(runtime, Simulated), base.options.pods.root
    handlers = HandlerRunner(runtime, clock, recorder)
    stopper = ContainerStopper(runtime, handlers, recorder, clock)
    images = build_image_manager(
        base.options.images, root, runtime, clock, base.node_managers.pulls, recorder, objects, tokens
    )
    sub_paths = SimulatedSubPaths() if simulated else _sub_path_mounts(base)
    given = RuntimeManagerInputs(
        base.options.pods, runtime, base.plugins.network, directories, objects, handlers, stopper, recorder, images,
        base.host_ips, base.machine, base.node, base.container_manager, sub_paths, base.volumes,
    )  # fmt: skip
    manager = build_runtime_manager(given)
    granted = AllocationState(None if simulated else directories.root)
    predicate = PodAdmission(base.node.node, partial(_allocated, pods, granted))
    sysctls = SysctlAllowlist(base.options.pods.allowed_sysctls)
    policy = node_policy(base.options.values, root)
    managers = (base.node_managers.evictions, base.node_managers.shutdown, base.container_manager)
    admit = (*policy, *managers, sysctls, *apparmor_admission(runtime))
    admission = Admission(
        predicate, admit, pods.entries, granted, recorder, queue.sync_pod, base.container_manager.resize_problem
    )
    return WorkerServices(
        runtime=runtime,
        clock=clock,
        recorder=recorder,
        admission=admission,
        allocations=AllocationManager(granted, recorder, admission.grant, manager.resizer, clock),
        container_manager=base.container_manager,
        volumes=None if simulated else _volume_manager(base, sources),
        keeps_volumes=base.options.node.keeps_volumes,
        sandboxes=manager.sandboxes,
        starter=manager.starter,
        stopper=stopper,
        probes=ProbeManager(runtime, clock, recorder, queue.sync_pod),
        messages=TerminationMessages(directories),
        statuses=StatusManager(base.client),
        host_ips=base.host_ips,
        requeue_after=queue.sync_pod_after,
        terminated=partial(_pod_ended, base.container_manager, pods, queue),
        supports_recursive_read_only=base.state.supports_recursive_read_only,
        network_problem=base.state.network_problem,
        status_target=pods.status_target,
    )


def _sub_path_mounts(base: _Foundation) -> SubPathMounts:
    needs_mounts = isinstance(base.plugins.runtime, TellsRuntimeConfig)
    return SubPathMounts(base.directories, base.volumes, needs_mounts=needs_mounts)


def _volume_manager(base: _Foundation, sources: _VolumeSources) -> VolumeManager:
    objects = sources.objects
    sub_paths = _sub_path_mounts(base)
    attachments = Attachments(base.client, by_controller=base.options.node.controller_attaches)
    volumes, directories = PodVolumes(base.plugins.volumes, objects), base.directories
    labels = MountLabels(SELinux(), all_modes=base.options.server.gates.get(GATE, False))
    mounter = VolumeMounter(
        directories, base.volumes, objects, sources.tokens, base.node.node, attachments, base.recorder, sub_paths,
        sources.certificates, sources.trust_anchors, labels,
    )  # fmt: skip
    return VolumeManager(
        volumes, base.volumes, mounter, Reconstruction(directories, volumes, mounter, sub_paths),
        NodeExpansion(base.client, objects, mounter, base.recorder, base.options.node.name), labels, base.clock,
        requeue=base.queue.sync_pod, in_use_changed=partial(base.queue.add, Task.SYNC_NODE),
    )  # fmt: skip


def build_services(
    options: KubeletOptions, plugins: KubeletPlugins, client: Client | None, clock: Clock, queue: SyncQueue
) -> KubeletServices:
    """Build everything; nothing runs yet, and `queue` is not used before something is started."""
    base = _foundation(options, plugins, client, clock, queue)
    watches = client is not None and not isinstance(plugins.runtime, Simulated)
    services = Informer(client, clock, SERVICES) if client is not None and watches else None
    strategy = check_strategy(options.pods.change_detection)
    objects = ObjectCache(client, clock, services, strategy if watches else GET, base.node.node)
    tokens = TokenManager(client, clock)
    certificates = build_pod_certificates(
        client, clock, base.recorder, base.pods.get, base.node.node, queue.sync_pod, options.node.name,
        enabled=options.server.gates.get(POD_CERTIFICATES, False),
    )  # fmt: skip
    anchors = build_trust_anchors(client, clock, options.server.gates)
    work = _worker_services(
        base, _VolumeSources(objects=objects, tokens=tokens, certificates=certificates, trust_anchors=anchors)
    )
    remove_orphans = base.container_manager.remove_orphans
    return KubeletServices(
        recorder=base.recorder,
        directories=base.directories,
        services=services,
        objects=objects,
        tokens=tokens,
        pod_certificates=certificates,
        trust_anchors=anchors,
        node=base.node,
        pod_cidr=PodCidr(plugins.node_network, plugins.runtime, options.runtime.pod_cidr),
        pods=base.pods,
        mirrors=None if client is None else MirrorPods(client, base.pods, partial(_registered, base.node)),
        probes=work.probes,
        stopper=work.stopper,
        worker=PodWorker(work),
        volumes=work.volumes,
        container_manager=base.container_manager,
        pleg=base.pleg,
        node_managers=base.node_managers,
        housekeeping=Housekeeping(
            plugins.runtime,
            base.pods,
            work.sandboxes,
            base.directories,
            base.node_managers.containers,
            remove_orphans,
            work.volumes,
        ),
        drivers=_driver_search(base),
        util_chains=_util_chains(options, plugins.runtime),
        sources=_sources(options, client, clock, base.pods),
    )


def _util_chains(options: KubeletOptions, runtime: Runtime) -> IptablesUtilChains | None:
    wanted = options.values["make-iptables-util-chains"] and isinstance(runtime, TellsRuntimeConfig)
    return IptablesUtilChains() if wanted else None


def _driver_search(base: _Foundation) -> SocketSearch:
    """Return what finds drivers of volumes where no container manager does."""
    found = () if isinstance(base.plugins.runtime, TellsRuntimeConfig) else base.plugins.volumes
    kinds = [kind for _, kind in found if isinstance(kind, TakesDrivers)]
    folder = base.directories.root / "plugins_registry"
    return SocketSearch(folder, kinds, base.options.node.name, base.clock)


def _sources(options: KubeletOptions, client: Client | None, clock: Clock, pods: PodManager) -> tuple[PodSource, ...]:
    static = static_sources(options.sources, options.node.name, clock, pods)
    if client is None:
        return (*static,)
    folder = options.values["bootstrap-checkpoint-path"]
    checkpoints = BootstrapCheckpoints(Path(folder)) if folder else None
    return (*static, ApiSource(client, clock, options.node.name, pods, checkpoints))


def _pod_ended(manager: ContainerManager, pods: PodManager, queue: SyncQueue, uid: str) -> None:
    """Take back what an ended pod had, then look again at the pods that wait for room."""
    entry = pods.get(uid)
    if entry is not None:
        manager.unprepare_dynamic_resources(entry.pod)
    manager.pod_ended(uid)
    for entry in pods.waiting_for_room():
        queue.sync_pod(uid_of(entry.pod))


def _allocated(pods: PodManager, state: AllocationState) -> list[Object]:
    """Return the active pods with the resources that they were granted."""
    granted = ((pod, state.get(str(uid_of(pod)))) for pod in pods.active_pods())
    return [pod if found is None else with_allocation(pod, found) for pod, found in granted]


def _registered(node: NodeUpdater) -> Object | None:
    return node.node() if node.is_registered else None
