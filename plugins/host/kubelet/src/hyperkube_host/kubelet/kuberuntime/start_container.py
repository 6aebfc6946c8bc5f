"""Starts containers: image, environment, mounts, creation, start, postStart hook.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container.go`` (startContainer).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple

from hyperkube_host.kubelet.cm.interface import ContainerManager, ContainerManagerFailed
from hyperkube_host.kubelet.container.pod_status import get_pod_status
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.images.image_manager import ImageManager, ImageUnavailable
from hyperkube_host.kubelet.kuberuntime.container_config import ContainerInputs, ContainerSettings, container_config
from hyperkube_host.kubelet.kuberuntime.pod_hostname import hosts_file
from hyperkube_host.kubelet.kuberuntime.service_hosts import ServiceHosts
from hyperkube_host.kubelet.kuberuntime.stop_container import ContainerStopper
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.types.labels import DEFAULT_MESSAGE_PATH
from hyperkube_host.kubelet.types.plugin_bugs import plugin_bugs
from hyperkube_host.kubelet.types.pod_spec import pod_grace_seconds
from hyperkube_host.kubelet.types.pod_status import Waiting
from hyperkube_host.kubelet.types.pod_update import describe
from hyperkube_host.kubelet.userns.userns_manager import with_id_mappings
from hyperkube_host.kubelet.volumemanager.selinux import Relabelling
from hyperkube_host.kubelet.volumemanager.sub_paths import SubPaths

from hyperkube.hookspecs.runtime import Config, Image, Runtime, RuntimeFailed, SandboxStatus
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.record import Record

RETRY_SECONDS = 10.0
_log = logging.getLogger("hyperkube.kubelet")


class StartFailed(Exception):
    """A container could not be started; `waiting` is the state to show, `retry_seconds` when to try again."""

    def __init__(self, waiting: Waiting, retry_seconds: float = RETRY_SECONDS) -> None:
        super().__init__(waiting.message)
        self.waiting = waiting
        self.retry_seconds = retry_seconds


class NodeSettings(Record):
    """The node's settings that become part of each container."""

    node_ips: tuple[str, ...]
    allocatable: Callable[[], Mapping[str, str]]
    resolver_file: Callable[[Object], str | None]
    """Pod → the text of its ``resolv.conf``, None when the node's own one is used."""
    containers: ContainerSettings
    cluster_domain: str
    user_namespace: Callable[[Object], Config | None]
    """Pod → its ``UserNamespace``, None for the node's."""
    container_manager: ContainerManager
    service_hosts: ServiceHosts
    """What hosts files have of Services."""
    sub_paths: SubPaths
    relabelling: Relabelling
    """Which mounts the runtime gives the container's SELinux label."""
    tells_address: bool = False
    """Whether containers are told their address in ``POD_IP``: they share the network of the node."""
    unprivileged_port_offset: int = 0
    """What the node's proxier adds to the service ports below 1024."""
    master_service_namespace: str = "default"
    """Where the Service of the API server is."""


class PodPlace(NamedTuple):
    """What is there for the containers of a pod in one sync.

    Attributes:
        sandbox: they start in it.
        paths: volume name → path on the node.
        images: name of an image volume → its ``ImageSpec``, or why the image is not on the node.
        before_pull: called before an image is pulled.
    """

    sandbox: SandboxStatus
    paths: dict[str, str]
    images: Mapping[str, Config | ImageUnavailable]
    before_pull: Callable[[], None]


class ContainerStarter:
    """Starts containers."""

    def __init__(
        self,
        runtime: Runtime,
        images: ImageManager,
        directories: KubeletDirectories,
        objects: ObjectCache,
        hooks: HandlerRunner,
        stopper: ContainerStopper,
        recorder: KubeletEventRecorder,
        settings: NodeSettings,
        sandbox_config: Callable[[Object, int], Config],
    ) -> None:
        """Use `sandbox_config` (pod, attempt) for the configuration of the sandbox that a container belongs to."""
        self._sandbox_config = sandbox_config
        self._runtime = runtime
        self._images = images
        self._directories = directories
        self._objects = objects
        self._hooks = hooks
        self._stopper = stopper
        self._recorder = recorder
        self._settings = settings

    def start(self, pod: Object, container: Object, place: PodPlace, attempt: int) -> None:
        """Start one container.

        Raises:
            StartFailed: it does not run.
        """
        sandbox_config = self._sandbox_config(pod, place.sandbox.attempt)
        try:
            image = self._images.ensure_image(pod, container, sandbox_config, place.before_pull)
        except ImageUnavailable as error:
            self._recorder.container_event(pod, container, "Warning", "Failed", f"Error: {error.waiting.reason}")
            raise StartFailed(error.waiting, error.retry_seconds) from error
        container_id = self._create(pod, container, place, attempt, image, sandbox_config)
        try:
            with plugin_bugs():
                self._runtime.start_container(container_id)
        except RuntimeFailed as error:
            self._recorder.container_event(pod, container, "Warning", "Failed", f"Error: {error.details}")
            raise StartFailed(Waiting(_reason(error, "RunContainerError"), error.details)) from error
        self._recorder.container_event(pod, container, "Normal", "Started", "Container started")
        self._post_start(pod, container, container_id, place.sandbox)

    def _create(
        self, pod: Object, container: Object, place: PodPlace, attempt: int, image: Image, sandbox_config: Config
    ) -> str:
        from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed

        try:
            config = self._config(pod, container, place, attempt, image)
        except ConfigFailed as error:
            self._recorder.container_event(pod, container, "Warning", "Failed", f"Error: {error}")
            raise StartFailed(Waiting("CreateContainerConfigError", str(error))) from error
        try:
            with plugin_bugs():
                container_id = self._runtime.create_container(place.sandbox.id, config, sandbox_config)
        except RuntimeFailed as error:
            self._recorder.container_event(pod, container, "Warning", "Failed", f"Error: {error.details}")
            raise StartFailed(Waiting(_reason(error, "CreateContainerError"), error.details)) from error
        self._recorder.container_event(pod, container, "Normal", "Created", "Container created")
        return container_id

    def _post_start(self, pod: Object, container: Object, container_id: str, sandbox: SandboxStatus) -> None:
        address = (self._pod_ips(pod, sandbox) or ("127.0.0.1",))[0]
        problem = self._hooks.post_start(pod, container, container_id, address)
        if not problem:
            return
        self._recorder.container_event(pod, container, "Warning", "FailedPostStartHook", "PostStartHook failed")
        self._recorder.container_event(pod, container, "Normal", "Killing", "FailedPostStartHook")
        try:
            self._stopper.stop(pod, container, container_id, address, pod_grace_seconds(pod))
        except RuntimeFailed as error:
            _log.warning("container %s of pod %s could not be stopped: %s", container["name"], describe(pod), error)
        raise StartFailed(Waiting("PostStartHookError", problem))

    def volume_images(
        self, pod: Object, sandbox: SandboxStatus, *, starts: bool
    ) -> dict[str, Config | ImageUnavailable]:
        """Pull the images that are volumes of a pod; return volume name → ``ImageSpec``, or why it is not there.

        Unless a container `starts` those are left out that are pulled whether or not they are there.
        """
        volumes = [volume for volume in pod["spec"].get("volumes") or () if "image" in volume]
        if not starts:
            volumes = [volume for volume in volumes if volume["image"].get("pullPolicy") != "Always"]
        return {volume["name"]: self._volume_image(pod, volume, sandbox) for volume in volumes}

    def _volume_image(self, pod: Object, volume: Object, sandbox: SandboxStatus) -> Config | ImageUnavailable:
        sandbox_config = self._sandbox_config(pod, sandbox.attempt)
        try:
            image = self._images.ensure_volume_image(pod, volume["image"], sandbox_config)
        except ImageUnavailable as error:
            return error
        return {
            "image": image.id,
            "user_specified_image": volume["image"].get("reference", ""),
            "annotations": dict(sandbox_config.get("annotations", {})),
        }

    def _config(self, pod: Object, container: Object, place: PodPlace, attempt: int, image: Image) -> Config:
        """Return the container to ask the runtime for.

        Raises:
            ConfigFailed: it refers to an object or key that does not exist.
            StartFailed: the image of a volume that it mounts is not on the node.
        """
        from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed
        from hyperkube_host.kubelet.kuberuntime.mounts import VolumeSources, devices_of, mounts_of, read_only_volumes

        manager, sandbox, paths = self._settings.container_manager, place.sandbox, place.paths
        try:
            given = manager.run_options(pod, container)
        except ContainerManagerFailed as error:
            raise ConfigFailed(str(error)) from error
        # What the pod says of a variable counts more than what a device does.
        env = {one["key"]: one["value"] for one in given.envs} | self._environment(pod, container, sandbox, paths)
        namespace = self._settings.user_namespace(pod)
        volumes = VolumeSources(
            paths=paths,
            sub_paths=self._settings.sub_paths,
            pod_uid=uid_of(pod),
            images=_mounted_images(container, place.images),
            read_only=read_only_volumes(pod),
            relabelled=self._settings.relabelling.volumes(uid_of(pod)),
        )
        mounts = [*mounts_of(container, volumes, env), *self._kubelet_mounts(pod, container, sandbox, attempt)]
        inputs = ContainerInputs(
            attempt=attempt,
            image=image,
            env=env,
            mounts=[with_id_mappings(mount, namespace) for mount in (*mounts, *given.mounts)],
            user_namespace=namespace,
            exclusive=manager.pre_create_container(pod, container),
            devices=[*given.devices, *devices_of(container, volumes)],
            cdi_devices=given.cdi_devices,
            annotations=given.annotations,
            target_id=self._target_id(pod, container),
        )
        return container_config(pod, container, inputs, self._settings.containers)

    def _target_id(self, pod: Object, container: Object) -> str:
        """Return the ID of the container whose processes an ephemeral container is to see, empty for none.

        Raises:
            ConfigFailed: there is no such container.
        """
        from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed

        name = container.get("targetContainerName")
        if not name:
            return ""
        latest = get_pod_status(self._runtime, uid_of(pod)).latest(name)
        if latest is None:
            raise ConfigFailed(f"unable to find target container {name}")
        return latest.id

    def _pod_ips(self, pod: Object, sandbox: SandboxStatus) -> tuple[str, ...]:
        """Return the pod's addresses; those of the node for a pod on its network."""
        hosts = self._settings.node_ips
        return hosts if pod["spec"].get("hostNetwork") else (sandbox.ips or hosts)

    def _environment(
        self, pod: Object, container: Object, sandbox: SandboxStatus, paths: dict[str, str]
    ) -> dict[str, str]:
        from hyperkube_host.kubelet.kuberuntime.environment import Environment

        hosts, ips = self._settings.node_ips, self._pod_ips(pod, sandbox)
        known = {"status.podIP": ips[0], "status.podIPs": ",".join(ips)} if ips else {}
        if hosts:
            known |= {"status.hostIP": hosts[0], "status.hostIPs": ",".join(hosts)}
        built = Environment(
            pod,
            container,
            services=self._objects.services(),
            port_offset=self._settings.unprivileged_port_offset,
            master_namespace=self._settings.master_service_namespace,
            ips=known,
            allocatable=self._settings.allocatable(),
            get_config_map=self._objects.config_map,
            get_secret=self._objects.secret,
            volumes=paths,
        ).build()
        return {**({"POD_IP": ips[0]} if ips and self._settings.tells_address else {}), **built}

    def _kubelet_mounts(self, pod: Object, container: Object, sandbox: SandboxStatus, attempt: int) -> list[Config]:
        """Return the mounts that the kubelet adds: termination message, hosts file and resolver file."""
        from hyperkube_host.kubelet.kuberuntime.mounts import check_path, make_mount

        file = self._directories.termination_message(uid_of(pod), container["name"], attempt)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")  # of an earlier container with this number, if the runtime has forgotten it
        file.chmod(0o666)
        path = container.get("terminationMessagePath") or DEFAULT_MESSAGE_PATH
        check_path("terminationMessagePath", path)
        relabel = self._settings.relabelling.of_own_files
        mounts: list[Config] = [make_mount(str(file), path, relabel=relabel)]
        taken = {mount["mountPath"] for mount in container.get("volumeMounts") or []}
        ips = self._pod_ips(pod, sandbox)
        if "/etc/hosts" not in taken and ips:
            hosts = self._directories.pod(uid_of(pod)) / "etc-hosts"
            own = hosts_file(pod, ips, self._settings.cluster_domain)
            self._settings.service_hosts.write(hosts, own, pod)
            hosts.chmod(0o644)
            mounts.append(make_mount(str(hosts), "/etc/hosts", relabel=relabel))
        resolver = self._settings.resolver_file(pod)
        if resolver is not None and "/etc/resolv.conf" not in taken:
            file = self._directories.pod(uid_of(pod)) / "resolv.conf"
            file.write_text(resolver)
            mounts.append(make_mount(str(file), "/etc/resolv.conf", relabel=relabel))
        return mounts


def _mounted_images(container: Object, images: Mapping[str, Config | ImageUnavailable]) -> dict[str, Config]:
    """Return those of the volumes that a container mounts.

    Raises:
        StartFailed: one is not on the node.
    """
    found: dict[str, Config] = {}
    for name in {mount["name"] for mount in container.get("volumeMounts") or ()} & images.keys():
        image = images[name]
        if isinstance(image, ImageUnavailable):
            raise StartFailed(image.waiting, image.retry_seconds) from image
        found[name] = image
    return found


def _reason(error: RuntimeFailed, default: str) -> str:
    return error.reason if error.reason not in {"", "RuntimeError"} else default
