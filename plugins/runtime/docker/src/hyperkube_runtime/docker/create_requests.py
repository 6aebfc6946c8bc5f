"""What Docker is asked for to create a sandbox or a container: pure translation of CRI's configurations.

Source: kubernetes ``pkg/kubelet/dockershim/docker_sandbox.go`` (makeSandboxDockerConfig), ``docker_container.go``
(CreateContainer), ``helpers.go`` (generateMountBindings, makePortsAndBindings), ``helpers_linux.go``
(updateCreateConfig).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperkube_runtime.docker.names import (
    CONTAINER_NAME_LABEL,
    CONTAINER_TYPE,
    LOG_PATH_LABEL,
    SANDBOX_ID_LABEL,
    SANDBOX_NAME,
    SANDBOX_TYPE,
    TYPE_LABEL,
    docker_labels,
)
from hyperkube_runtime.docker.security_options import (
    container_namespaces,
    docker_user,
    protected_paths,
    refuse_user_namespace,
    sandbox_namespaces,
    security_host_config,
)

from hyperkube.hookspecs.runtime import Config, RuntimeFailed
from hyperkube.machinery.record import Record

SHM_BYTES = 64 << 20
SANDBOX_OOM_SCORE_ADJ = -998
SANDBOX_CPU_SHARES = 2
LIMITS = {
    "Memory": "memory_limit_in_bytes",
    "MemorySwap": "memory_swap_limit_in_bytes",
    "CpuShares": "cpu_shares",
    "CpuQuota": "cpu_quota",
    "CpuPeriod": "cpu_period",
    "CpusetCpus": "cpuset_cpus",
    "CpusetMems": "cpuset_mems",
}
"""Docker's name of a limit → CRI's."""
_PROPAGATION = {"PROPAGATION_HOST_TO_CONTAINER": "rslave", "PROPAGATION_BIDIRECTIONAL": "rshared"}


class NodeFacts(Record):
    """What all containers of a node have in common.

    Attributes:
        sandbox_image: the image of sandboxes.
        network_mode: Docker's mode of sandboxes that are not on the node's network: ``none`` where a network plugin
            connects them, else empty for Docker's own bridge.
        systemd: whether systemd is Docker's cgroup driver.
        least_oom_score_adj: the least adjustment that Docker may give here.
        log_options: Docker's options of the driver json-file.
    """

    sandbox_image: str
    network_mode: str = ""
    systemd: bool = False
    least_oom_score_adj: int = -1000
    log_options: Mapping[str, str]


def sandbox_request(config: Config, node: NodeFacts) -> dict[str, Any]:
    """Return what creates the container of a sandbox, which holds the namespaces of the pod.

    Raises:
        RuntimeFailed: it asks for what Docker does not have.
    """
    linux = config.get("linux", {})
    context = linux.get("security_context", {})
    refuse_user_namespace(context)
    labels = docker_labels(config.get("labels", {}), config.get("annotations", {}))
    labels |= {TYPE_LABEL: SANDBOX_TYPE, CONTAINER_NAME_LABEL: SANDBOX_NAME}
    host_config = {
        **security_host_config(context),
        **sandbox_namespaces(context.get("namespace_options", {}), node.network_mode),
        **_common_host_config(linux.get("cgroup_parent", ""), node),
        "CpuShares": SANDBOX_CPU_SHARES,
        "MemorySwap": 0,
        "OomScoreAdj": max(SANDBOX_OOM_SCORE_ADJ, node.least_oom_score_adj),
        "Sysctls": dict(linux.get("sysctls", {})),
    }
    exposed, bindings = _ports(config.get("port_mappings", ()))
    if not host_config["NetworkMode"]:  # else the network plugin forwards them
        host_config["PortBindings"] = bindings
    made = {
        "Hostname": config.get("hostname", ""),
        "Image": node.sandbox_image,
        "Labels": labels,
        "ExposedPorts": exposed,
        "HostConfig": host_config,
    }
    user = docker_user(context)
    return made | ({"User": user} if user else {})


def _common_host_config(cgroup_parent: str, node: NodeFacts) -> dict[str, Any]:
    return {
        "CgroupParent": posixpath.basename(cgroup_parent) if node.systemd else cgroup_parent,
        # The kubelet reads the files, whatever driver the daemon would take by itself.
        "LogConfig": {"Type": "json-file", "Config": dict(node.log_options)},
        "ShmSize": SHM_BYTES,
    }


def container_request(config: Config, sandbox_config: Config, sandbox_id: str, node: NodeFacts) -> dict[str, Any]:
    """Return what creates a container of a sandbox.

    Raises:
        RuntimeFailed: it asks for what Docker does not have.
    """
    linux = config.get("linux", {})
    context = linux.get("security_context", {})
    if config.get("CDI_devices"):
        raise RuntimeFailed("CDI devices are not supported by Docker")
    labels = docker_labels(config.get("labels", {}), config.get("annotations", {}))
    labels[TYPE_LABEL] = CONTAINER_TYPE
    labels[LOG_PATH_LABEL] = posixpath.join(sandbox_config.get("log_directory", ""), config.get("log_path", ""))
    labels[SANDBOX_ID_LABEL] = sandbox_id
    resources = linux.get("resources", {})
    made: dict[str, Any] = {
        "Entrypoint": list(config.get("command", ())) or None,
        "Cmd": list(config.get("args", ())) or None,
        "Env": [f"{entry['key']}={entry.get('value', '')}" for entry in config.get("envs", ())],
        "Image": config["image"]["image"],
        "WorkingDir": config.get("working_dir", ""),
        "Labels": labels,
        "OpenStdin": bool(config.get("stdin")),
        "StdinOnce": bool(config.get("stdin_once")),
        "Tty": bool(config.get("tty")),
        # What tells whether a container is well is the kubelet's probes, not the image.
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": {
            **security_host_config(context),
            **protected_paths(context),
            **container_namespaces(context.get("namespace_options", {}), sandbox_id),
            **_common_host_config(sandbox_config.get("linux", {}).get("cgroup_parent", ""), node),
            **resource_limits(resources),
            "OomScoreAdj": max(int(resources.get("oom_score_adj", 0)), node.least_oom_score_adj),
            "Binds": mount_bindings(config.get("mounts", ())),
            "Devices": _devices(config.get("devices", ())),
        },
    }
    user, signal = docker_user(context), config.get("stop_signal", "")
    if user:
        made["User"] = user
    if signal and signal != "RUNTIME_DEFAULT":
        made["StopSignal"] = signal
    return made


def resource_limits(resources: Config) -> dict[str, Any]:
    """Return Docker's ``Resources`` of a ``LinuxContainerResources``: those that are given.

    Huge pages and ``unified`` are left to the pod's own cgroup, which the kubelet keeps: Docker has no words for them.
    """
    made = {name: resources[field] for name, field in LIMITS.items() if resources.get(field)}
    # Docker's own choice would be as much swap as memory, and would then stand in the way of an update.
    return {"MemorySwap": made["Memory"], **made} if "Memory" in made else made


def mount_bindings(mounts: Iterable[Config]) -> list[str]:
    """Return Docker's ``Binds``: ``HOST_PATH:CONTAINER_PATH[:OPTIONS]``.

    Raises:
        RuntimeFailed: a mount that Docker cannot make, or whose path has a colon.
    """
    return [_binding(mount) for mount in mounts]


def _binding(mount: Config) -> str:
    target = mount["container_path"]
    if "image" in mount and mount["image"].get("image"):
        raise RuntimeFailed(f'volumes of images are not supported by Docker (mount "{target}")')
    if mount.get("recursive_read_only"):
        raise RuntimeFailed(f'recursive read-only mounts are not supported by Docker (mount "{target}")')
    source = mount.get("host_path", "")
    if ":" in source or ":" in target:
        raise RuntimeFailed(f'Docker takes no paths with a colon (mount "{source}" at "{target}")')
    options = ["ro"] if mount.get("readonly") else []
    # Only where the pod has a context of its own: else Docker's random one would shut all other pods out.
    options += ["Z"] if mount.get("selinux_relabel") else []
    options += [_PROPAGATION[mount["propagation"]]] if mount.get("propagation") in _PROPAGATION else []
    return f"{source}:{target}:{','.join(options)}" if options else f"{source}:{target}"


def _devices(devices: Iterable[Config]) -> list[dict[str, str]]:
    return [
        {
            "PathOnHost": device.get("host_path", ""),
            "PathInContainer": device.get("container_path", ""),
            "CgroupPermissions": device.get("permissions", ""),
        }
        for device in devices
    ]


def _ports(mappings: Sequence[Config]) -> tuple[dict[str, Any], dict[str, list[dict[str, str]]]]:
    """Return ``ExposedPorts`` and ``PortBindings`` of the host ports; several may lead to one port."""
    bindings: dict[str, list[dict[str, str]]] = {}
    for mapping in mappings:
        if mapping.get("host_port"):
            port = f"{mapping.get('container_port', 0)}/{mapping.get('protocol', 'TCP').lower()}"
            binding = {"HostIp": mapping.get("host_ip", ""), "HostPort": str(mapping["host_port"])}
            bindings.setdefault(port, []).append(binding)
    return {port: {} for port in bindings}, bindings
