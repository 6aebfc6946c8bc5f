"""The configuration of a container: what CreateContainer is asked for.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container.go`` (generateContainerConfig).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hyperkube_host.kubelet.container.expansion import expand
from hyperkube_host.kubelet.kuberuntime.linux_resources import ResourceSettings, container_linux_resources
from hyperkube_host.kubelet.types.labels import container_annotations, container_labels

from hyperkube.hookspecs.runtime import Config, Image
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class ContainerSettings(Record):
    """What containers have from their node.

    Attributes:
        resources: the node's settings for limits.
        seccomp_root: the folder of its own seccomp profiles.
        seccomp_default: ``--seccomp-default``.
    """

    resources: ResourceSettings
    seccomp_root: Path
    seccomp_default: bool = False


class ContainerInputs(Record):
    """What is known of a container when it is created.

    Attributes:
        attempt: how often it was started before.
        image: its image on the node.
        env: its variables.
        mounts: its mounts.
        target_id: the id of the container whose processes it sees, or empty.
        user_namespace: the ``UserNamespace`` of its pod, None for the node's.
        exclusive: the CPUs and memory that it has for itself alone.
        devices: ``Device`` messages.
        cdi_devices: names of CDI devices.
        annotations: what devices add to its annotations.
        extra_groups: the groups of its pod's volumes.
    """

    attempt: int
    image: Image
    env: Mapping[str, str]
    mounts: Sequence[Config]
    target_id: str = ""
    user_namespace: Config | None = None
    exclusive: Config = _NOTHING
    devices: Sequence[Config] = ()
    cdi_devices: Iterable[str] = ()
    annotations: Mapping[str, str] = _NOTHING
    extra_groups: tuple[int, ...] = ()


def container_config(pod: Object, container: Object, inputs: ContainerInputs, settings: ContainerSettings) -> Config:
    """Return the ``ContainerConfig`` of a container.

    Raises:
        ConfigFailed: it must not run as root and would, or names a profile that cannot be.
    """
    from hyperkube_host.kubelet.kuberuntime.security_context import verify_run_as_non_root

    verify_run_as_non_root(pod, container, inputs.image)
    metadata: dict[str, Any] = {"name": container["name"]}
    if inputs.attempt:
        metadata["attempt"] = inputs.attempt
    config: dict[str, Any] = {
        "metadata": metadata,
        "image": {"image": inputs.image.id, "user_specified_image": container.get("image", "")},
        "labels": container_labels(pod, container),
        "annotations": {**inputs.annotations, **container_annotations(pod, container, inputs.attempt)},
        "log_path": f"{container['name']}/{inputs.attempt}.log",
        "envs": [{"key": name, "value": value} for name, value in inputs.env.items()],
        "mounts": list(inputs.mounts),
        "linux": _linux(pod, container, inputs, settings),
    }
    for field in ("command", "args"):
        if container.get(field):
            config[field] = [expand(word, inputs.env) for word in container[field]]
    if container.get("workingDir"):
        config["working_dir"] = container["workingDir"]
    for field, name in (("stdin", "stdin"), ("stdinOnce", "stdin_once"), ("tty", "tty")):
        if container.get(field):
            config[name] = True
    signal = (container.get("lifecycle") or {}).get("stopSignal")
    if signal:
        config["stop_signal"] = signal
    if inputs.devices:
        config["devices"] = list(inputs.devices)
    cdi = [{"name": name} for name in inputs.cdi_devices]
    return config | ({"CDI_devices": cdi} if cdi else {})


def _linux(pod: Object, container: Object, inputs: ContainerInputs, settings: ContainerSettings) -> Config:
    from hyperkube_host.kubelet.kuberuntime.security_context import container_security_context, namespace_options

    security = container_security_context(
        pod,
        container,
        image=inputs.image,
        namespaces=namespace_options(pod, container, inputs.target_id, inputs.user_namespace),
        seccomp_root=settings.seccomp_root,
        seccomp_default=settings.seccomp_default,
        extra_groups=inputs.extra_groups,
    )
    resources = container_linux_resources(pod, container, settings.resources, inputs.exclusive)
    return {"resources": resources, "security_context": security}
