"""Starts containers: image, environment, mounts, creation, start, postStart hook.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container.go`` (startContainer, generateContainerConfig).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperkube_host.kubelet.container.expansion import expand
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.images.image_manager import ImageManager, ImageUnavailable
from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed, Environment
from hyperkube_host.kubelet.kuberuntime.mounts import check_path, mounts_of
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.pod.pod_entry import DEFAULT_GRACE_SECONDS
from hyperkube_host.kubelet.types.labels import (
    CONTAINER_HASH,
    CONTAINER_NAME,
    RESTART_COUNT,
    TERMINATION_GRACE_PERIOD,
    TERMINATION_MESSAGE_PATH,
    TERMINATION_MESSAGE_POLICY,
    container_hash,
    pod_labels,
)
from hyperkube_host.kubelet.types.pod_status import Waiting

from hyperkube.hookspecs.runtime import ContainerSpec, Mount, Runtime, RuntimeFailed, SandboxStatus
from hyperkube.machinery.objects import Object, name_of, uid_of
from hyperkube.machinery.record import Record

RETRY_SECONDS = 10.0
DEFAULT_MESSAGE_PATH = "/dev/termination-log"


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
    unprivileged_port_offset: int = 0
    """What the node's proxier adds to the service ports below 1024."""


def security_of(pod: Object, container: Object) -> Object:
    """Return the container's security context laid over its pod's."""
    return {**(pod["spec"].get("securityContext") or {}), **(container.get("securityContext") or {})}


class ContainerStarter:
    """Starts containers."""

    def __init__(
        self,
        runtime: Runtime,
        images: ImageManager,
        directories: KubeletDirectories,
        objects: ObjectCache,
        hooks: HandlerRunner,
        recorder: KubeletEventRecorder,
        settings: NodeSettings,
    ) -> None:
        self._runtime = runtime
        self._images = images
        self._directories = directories
        self._objects = objects
        self._hooks = hooks
        self._recorder = recorder
        self._settings = settings

    def start(
        self, pod: Object, container: Object, sandbox: SandboxStatus, paths: dict[str, str], attempt: int
    ) -> None:
        """Start one container in a sandbox, with the volumes at `paths`.

        Raises:
            StartFailed: it does not run.
        """
        try:
            self._images.ensure_image(pod, container)
        except ImageUnavailable as error:
            self._recorder.container_event(pod, container, "Warning", "Failed", f"Error: {error.waiting.reason}")
            raise StartFailed(error.waiting, error.retry_seconds) from error
        container_id = self._create(pod, container, sandbox, paths, attempt)
        try:
            self._runtime.start_container(container_id)
        except RuntimeFailed as error:
            self._recorder.container_event(pod, container, "Warning", "Failed", f"Error: {error}")
            raise StartFailed(Waiting(_reason(error, "RunContainerError"), str(error))) from error
        self._recorder.container_event(pod, container, "Normal", "Started", f"Started container {container['name']}")
        self._post_start(pod, container, container_id, sandbox)

    def _create(
        self, pod: Object, container: Object, sandbox: SandboxStatus, paths: dict[str, str], attempt: int
    ) -> str:
        try:
            spec = self.spec(pod, container, sandbox, paths, attempt)
        except ConfigFailed as error:
            self._recorder.container_event(pod, container, "Warning", "Failed", f"Error: {error}")
            raise StartFailed(Waiting("CreateContainerConfigError", str(error))) from error
        try:
            container_id = self._runtime.create_container(sandbox.id, spec)
        except RuntimeFailed as error:
            self._recorder.container_event(pod, container, "Warning", "Failed", f"Error: {error}")
            raise StartFailed(Waiting(_reason(error, "CreateContainerError"), str(error))) from error
        self._recorder.container_event(pod, container, "Normal", "Created", f"Created container: {container['name']}")
        return container_id

    def _post_start(self, pod: Object, container: Object, container_id: str, sandbox: SandboxStatus) -> None:
        problem = self._hooks.post_start(pod, container, container_id, _address(pod, sandbox, self._settings))
        if not problem:
            return
        self._recorder.container_event(pod, container, "Warning", "FailedPostStartHook", "PostStartHook failed")
        grace = float(pod["spec"].get("terminationGracePeriodSeconds") or DEFAULT_GRACE_SECONDS)
        self._recorder.container_event(pod, container, "Normal", "Killing", "FailedPostStartHook")
        self._runtime.stop_container(container_id, grace)
        raise StartFailed(Waiting("PostStartHookError", problem))

    def spec(
        self, pod: Object, container: Object, sandbox: SandboxStatus, paths: dict[str, str], attempt: int
    ) -> ContainerSpec:
        """Return the container to ask the runtime for.

        Raises:
            ConfigFailed: it refers to an object or key that does not exist.
        """
        security = security_of(pod, container)
        _check_user(security)
        env = self._environment(pod, container, sandbox)
        mounts = [*mounts_of(container, paths, env), *self._kubelet_mounts(pod, container, sandbox, attempt)]
        return ContainerSpec(
            name=container["name"],
            attempt=attempt,
            image=container.get("image", ""),
            command=tuple(expand(word, env) for word in container.get("command") or []),
            args=tuple(expand(word, env) for word in container.get("args") or []),
            working_dir=container.get("workingDir", ""),
            env=tuple(env.items()),
            mounts=tuple(mounts),
            log_path=f"{container['name']}/{attempt}.log",
            stdin=bool(container.get("stdin")),
            stdin_once=bool(container.get("stdinOnce")),
            tty=bool(container.get("tty")),
            resources=container.get("resources") or {},
            security=security,
            labels={**pod_labels(pod), CONTAINER_NAME: container["name"]},
            annotations={
                CONTAINER_HASH: container_hash(container),
                RESTART_COUNT: str(attempt),
                TERMINATION_MESSAGE_PATH: container.get("terminationMessagePath") or DEFAULT_MESSAGE_PATH,
                TERMINATION_MESSAGE_POLICY: container.get("terminationMessagePolicy") or "File",
                TERMINATION_GRACE_PERIOD: str(
                    pod["spec"].get("terminationGracePeriodSeconds", int(DEFAULT_GRACE_SECONDS))
                ),
            },
        )

    def _environment(self, pod: Object, container: Object, sandbox: SandboxStatus) -> dict[str, str]:
        hosts = self._settings.node_ips
        ips = hosts if pod["spec"].get("hostNetwork") else (sandbox.ips or hosts)
        known = {"status.podIP": ips[0], "status.podIPs": ",".join(ips)} if ips else {}
        if hosts:
            known |= {"status.hostIP": hosts[0], "status.hostIPs": ",".join(hosts)}
        built = Environment(
            pod,
            container,
            services=self._objects.services(),
            port_offset=self._settings.unprivileged_port_offset,
            ips=known,
            allocatable=self._settings.allocatable(),
            get_config_map=self._objects.config_map,
            get_secret=self._objects.secret,
        ).build()
        return {**({"POD_IP": ips[0]} if ips else {}), **built}

    def _kubelet_mounts(self, pod: Object, container: Object, sandbox: SandboxStatus, attempt: int) -> list[Mount]:
        """Return the mounts that the kubelet adds: termination message, hosts file and resolver file."""
        file = self._directories.termination_message(uid_of(pod), container["name"], attempt)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o666)
        file.chmod(0o666)
        path = container.get("terminationMessagePath") or DEFAULT_MESSAGE_PATH
        check_path("terminationMessagePath", path)
        mounts = [Mount(host_path=str(file), container_path=path)]
        taken = {mount["mountPath"] for mount in container.get("volumeMounts") or []}
        if "/etc/hosts" not in taken and not pod["spec"].get("hostNetwork") and sandbox.ips:
            hosts = self._directories.pod(uid_of(pod)) / "etc-hosts"
            hosts.write_text(hosts_file(pod, sandbox.ips))
            mounts.append(Mount(host_path=str(hosts), container_path="/etc/hosts"))
        resolver = self._settings.resolver_file(pod)
        if resolver is not None and "/etc/resolv.conf" not in taken:
            file = self._directories.pod(uid_of(pod)) / "resolv.conf"
            file.write_text(resolver)
            mounts.append(Mount(host_path=str(file), container_path="/etc/resolv.conf"))
        return mounts


def hosts_file(pod: Object, ips: tuple[str, ...]) -> str:
    """Return the hosts file of a pod that has addresses of its own."""
    hostname = pod["spec"].get("hostname") or name_of(pod)
    lines = [
        "# Kubernetes-managed hosts file.",
        "127.0.0.1\tlocalhost",
        "::1\tlocalhost ip6-localhost ip6-loopback",
        *(f"{address}\t{hostname}" for address in ips),
    ]
    aliases = pod["spec"].get("hostAliases") or []
    if aliases:
        lines += ["", "# Entries added by HostAliases."]
        lines += ["\t".join([entry["ip"], *entry.get("hostnames", [])]) for entry in aliases]
    return "\n".join(lines) + "\n"


def _address(pod: Object, sandbox: SandboxStatus, settings: NodeSettings) -> str:
    ips = settings.node_ips if pod["spec"].get("hostNetwork") else (sandbox.ips or settings.node_ips)
    return ips[0] if ips else "127.0.0.1"


def _check_user(security: Object) -> None:
    if security.get("runAsNonRoot") and security.get("runAsUser") == 0:
        raise ConfigFailed("container's runAsUser breaks non-root policy")


def _reason(error: RuntimeFailed, default: str) -> str:
    return error.reason if error.reason not in {"", "RuntimeError"} else default
