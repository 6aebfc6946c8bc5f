"""From a container of a pod's spec to a running one: image, variables, mounts, creation, start, postStart hook.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container.go`` (startContainer, generateContainerConfig).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperkube_host.kubelet.environment import ConfigFailed, Environment, expand
from hyperkube_host.kubelet.images import Images, ImageUnavailable
from hyperkube_host.kubelet.lifecycle_hooks import Hooks
from hyperkube_host.kubelet.node_api import NodeApi
from hyperkube_host.kubelet.observation import (
    CONTAINER_HASH,
    CONTAINER_NAME,
    GRACE_PERIOD,
    MESSAGE_PATH,
    MESSAGE_POLICY,
    RESTART_COUNT,
    container_hash,
    pod_labels,
)
from hyperkube_host.kubelet.pod_status import Waiting
from hyperkube_host.kubelet.sayings import Sayings
from hyperkube_host.kubelet.volumes import PodVolumes, mounts_of

from hyperkube.hookspecs.runtime import ContainerSpec, Mount, Runtime, RuntimeFailed, SandboxStatus
from hyperkube.machinery.objects import Object, name_of, uid_of

RETRY_SECONDS = 10.0
DEFAULT_MESSAGE_PATH = "/dev/termination-log"


class StartRefused(Exception):
    """A container could not be started; `waiting` is what its state shows, `retry_seconds` when to try again."""

    def __init__(self, waiting: Waiting, retry_seconds: float = RETRY_SECONDS) -> None:
        super().__init__(waiting.message)
        self.waiting = waiting
        self.retry_seconds = retry_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the node adds to each container."""

    node_ips: tuple[str, ...]
    allocatable: Callable[[], Mapping[str, str]]
    resolver: Callable[[Object], str | None]
    """Pod → the text of its resolver file, None when the node's own one serves."""


def message_file(volumes: PodVolumes, uid: str, name: str, attempt: int) -> Path:
    """Return the file on the node that a container's termination message goes to."""
    return volumes.pod_folder(uid) / "containers" / name / f"{attempt}.message"


def security_of(pod: Object, container: Object) -> Object:
    """Return the container's security context laid over its pod's."""
    return {**(pod["spec"].get("securityContext") or {}), **(container.get("securityContext") or {})}


class ContainerStarter:
    """Starts containers."""

    def __init__(
        self,
        runtime: Runtime,
        images: Images,
        volumes: PodVolumes,
        api: NodeApi,
        hooks: Hooks,
        say: Sayings,
        surroundings: Surroundings,
    ) -> None:
        self._runtime = runtime
        self._images = images
        self._volumes = volumes
        self._api = api
        self._hooks = hooks
        self._say = say
        self._surroundings = surroundings

    def start(
        self, pod: Object, container: Object, sandbox: SandboxStatus, paths: dict[str, str], attempt: int
    ) -> None:
        """Start one container in a sandbox, with the volumes at `paths`.

        Raises:
            StartRefused: it does not run.
        """
        try:
            self._images.ensure(pod, container)
        except ImageUnavailable as error:
            self._say.container(pod, container, "Warning", "Failed", f"Error: {error.waiting.reason}")
            raise StartRefused(error.waiting, error.retry_seconds) from error
        container_id = self._create(pod, container, sandbox, paths, attempt)
        try:
            self._runtime.start_container(container_id)
        except RuntimeFailed as error:
            self._say.container(pod, container, "Warning", "Failed", f"Error: {error}")
            raise StartRefused(Waiting(_word(error, "RunContainerError"), str(error))) from error
        self._say.container(pod, container, "Normal", "Started", f"Started container {container['name']}")
        self._post_start(pod, container, container_id, sandbox)

    def _create(
        self, pod: Object, container: Object, sandbox: SandboxStatus, paths: dict[str, str], attempt: int
    ) -> str:
        try:
            spec = self.spec(pod, container, sandbox, paths, attempt)
        except ConfigFailed as error:
            self._say.container(pod, container, "Warning", "Failed", f"Error: {error}")
            raise StartRefused(Waiting("CreateContainerConfigError", str(error))) from error
        try:
            container_id = self._runtime.create_container(sandbox.id, spec)
        except RuntimeFailed as error:
            self._say.container(pod, container, "Warning", "Failed", f"Error: {error}")
            raise StartRefused(Waiting(_word(error, "CreateContainerError"), str(error))) from error
        self._say.container(pod, container, "Normal", "Created", f"Created container: {container['name']}")
        return container_id

    def _post_start(self, pod: Object, container: Object, container_id: str, sandbox: SandboxStatus) -> None:
        problem = self._hooks.post_start(pod, container, container_id, _address(pod, sandbox, self._surroundings))
        if not problem:
            return
        self._say.container(pod, container, "Warning", "FailedPostStartHook", "PostStartHook failed")
        grace = float(pod["spec"].get("terminationGracePeriodSeconds") or 30)
        self._say.container(pod, container, "Normal", "Killing", "FailedPostStartHook")
        self._runtime.stop_container(container_id, grace)
        raise StartRefused(Waiting("PostStartHookError", problem))

    def spec(
        self, pod: Object, container: Object, sandbox: SandboxStatus, paths: dict[str, str], attempt: int
    ) -> ContainerSpec:
        """Return what the runtime is asked for.

        Raises:
            ConfigFailed: it refers to what is not there.
        """
        security = security_of(pod, container)
        _check_user(security)
        env = self._environment(pod, container, sandbox)
        mounts = [*mounts_of(container, paths, env), *self._own_mounts(pod, container, sandbox, attempt)]
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
                MESSAGE_PATH: container.get("terminationMessagePath") or DEFAULT_MESSAGE_PATH,
                MESSAGE_POLICY: container.get("terminationMessagePolicy") or "File",
                GRACE_PERIOD: str(pod["spec"].get("terminationGracePeriodSeconds", 30)),
            },
        )

    def _environment(self, pod: Object, container: Object, sandbox: SandboxStatus) -> dict[str, str]:
        hosts = self._surroundings.node_ips
        ips = hosts if pod["spec"].get("hostNetwork") else (sandbox.ips or hosts)
        known = {"status.podIP": ips[0], "status.podIPs": ",".join(ips)} if ips else {}
        if hosts:
            known |= {"status.hostIP": hosts[0], "status.hostIPs": ",".join(hosts)}
        built = Environment(
            pod,
            container,
            services=self._api.services(),
            ips=known,
            allocatable=self._surroundings.allocatable(),
            get_config_map=self._api.config_map,
            get_secret=self._api.secret,
        ).build()
        ambient = {"POD_IP": ips[0]} if ips else {}
        return {**ambient, **built}

    def _own_mounts(self, pod: Object, container: Object, sandbox: SandboxStatus, attempt: int) -> list[Mount]:
        """Return the mounts that every container gets: its termination message, the hosts and the resolver file."""
        file = message_file(self._volumes, uid_of(pod), container["name"], attempt)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o666)
        file.chmod(0o666)
        path = container.get("terminationMessagePath") or DEFAULT_MESSAGE_PATH
        mounts = [Mount(host_path=str(file), container_path=path)]
        taken = {mount["mountPath"] for mount in container.get("volumeMounts") or []}
        if "/etc/hosts" not in taken and not pod["spec"].get("hostNetwork") and sandbox.ips:
            hosts = self._volumes.pod_folder(uid_of(pod)) / "etc-hosts"
            hosts.write_text(hosts_file(pod, sandbox.ips))
            mounts.append(Mount(host_path=str(hosts), container_path="/etc/hosts"))
        resolver = self._surroundings.resolver(pod)
        if resolver is not None and "/etc/resolv.conf" not in taken:
            file = self._volumes.pod_folder(uid_of(pod)) / "resolv.conf"
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


def _address(pod: Object, sandbox: SandboxStatus, surroundings: Surroundings) -> str:
    ips = surroundings.node_ips if pod["spec"].get("hostNetwork") else (sandbox.ips or surroundings.node_ips)
    return ips[0] if ips else "127.0.0.1"


def _check_user(security: Object) -> None:
    if security.get("runAsNonRoot") and security.get("runAsUser") == 0:
        raise ConfigFailed("container's runAsUser breaks non-root policy")


def _word(error: RuntimeFailed, default: str) -> str:
    return error.reason if error.reason not in {"", "RuntimeError"} else default
