"""The kubelet's records as messages of CRI v1: the inverse of what a client of CRI makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube.hookspecs.runtime import (
    Config,
    ContainerState,
    ContainerStatus,
    Image,
    RegistryCredentials,
    RuntimeStatus,
    SandboxStatus,
)

_CONDITIONS = (("RuntimeReady", "runtime_problem"), ("NetworkReady", "network_problem"))


def nanoseconds(seconds: float) -> int:
    """Return seconds since the epoch as CRI counts; a millionth of a second is kept."""
    return round(seconds * 1_000_000) * 1_000


def container_state(state: ContainerState) -> str:
    """Return the name of a state."""
    return f"CONTAINER_{state.name}"


def sandbox_state(sandbox: SandboxStatus) -> str:
    """Return the name of a state."""
    return "SANDBOX_READY" if sandbox.ready else "SANDBOX_NOTREADY"


def _sandbox(sandbox: SandboxStatus) -> dict[str, Any]:
    metadata = {"name": sandbox.name, "uid": sandbox.uid, "namespace": sandbox.namespace, "attempt": sandbox.attempt}
    return {
        "id": sandbox.id,
        "metadata": metadata,
        "state": sandbox_state(sandbox),
        "created_at": nanoseconds(sandbox.created_at),
        "labels": dict(sandbox.labels),
        "annotations": dict(sandbox.annotations),
        "runtime_handler": sandbox.runtime_handler,
    }


def listed_sandbox(sandbox: SandboxStatus) -> dict[str, Any]:
    """Return a ``PodSandbox``."""
    return _sandbox(sandbox)


def sandbox_status(sandbox: SandboxStatus) -> dict[str, Any]:
    """Return a ``PodSandboxStatus``."""
    first, *others = sandbox.ips or ("",)
    options = {"network": "NODE" if sandbox.host_network else "POD"}
    return {
        **_sandbox(sandbox),
        "network": {"ip": first, "additional_ips": [{"ip": ip} for ip in others]},
        "linux": {"namespaces": {"options": options}},
    }


def _container(container: ContainerStatus) -> dict[str, Any]:
    return {
        "id": container.id,
        "metadata": {"name": container.name, "attempt": container.attempt},
        "image": {"image": container.image},
        "image_ref": container.image_ref,
        "image_id": container.image_id,
        "state": container_state(container.state),
        "created_at": nanoseconds(container.created_at),
        "labels": dict(container.labels),
        "annotations": dict(container.annotations),
    }


def listed_container(container: ContainerStatus) -> dict[str, Any]:
    """Return a ``Container``."""
    return {**_container(container), "pod_sandbox_id": container.sandbox_id}


def container_status(container: ContainerStatus) -> dict[str, Any]:
    """Return a ``ContainerStatus``."""
    made = {
        **_container(container),
        "started_at": nanoseconds(container.started_at),
        "finished_at": nanoseconds(container.finished_at),
        "exit_code": container.exit_code,
        "reason": container.reason,
        "message": container.message,
        "log_path": container.log_path,
        "mounts": [dict(mount) for mount in container.mounts],
    }
    if container.stop_signal:
        made["stop_signal"] = container.stop_signal
    for field, value in (("resources", container.resources), ("user", container.user)):
        if value:
            made[field] = dict(value)
    return made


def image(found: Image) -> dict[str, Any]:
    """Return an ``Image``."""
    made = {
        "id": found.id,
        "repo_tags": list(found.tags),
        "repo_digests": list(found.digests),
        "size": found.size,
        "username": found.username,
        "pinned": found.pinned,
        "spec": {"image": found.id},
    }
    return made if found.uid is None else made | {"uid": {"value": found.uid}}


def runtime_status(status: RuntimeStatus) -> dict[str, Any]:
    """Return a ``StatusResponse``."""
    conditions = [_condition(name, getattr(status, field)) for name, field in _CONDITIONS]
    made: dict[str, Any] = {"status": {"conditions": conditions}}
    if status.handlers:
        made["runtime_handlers"] = [dict(handler) for handler in status.handlers]
    if status.features:
        made["features"] = dict(status.features)
    return made


def _condition(name: str, problem: str) -> dict[str, Any]:
    """Return a condition; a problem is told as the kubelet prints one: ``NAME=false reason:… message:…``."""
    if not problem:
        return {"type": name, "status": True}
    head, separator, message = problem.partition(" message:")
    _, has_reason, reason = head.partition("reason:")
    if not (separator and has_reason):
        reason, message = f"{name.removesuffix('Ready')}NotReady", problem
    return {"type": name, "status": False, "reason": reason, "message": message}


def credentials(auth: Config | None) -> RegistryCredentials | None:
    """Return the login of an ``AuthConfig``."""
    return RegistryCredentials(**auth) if auth else None


def container_config(config: Config) -> Config:
    """Return a ``ContainerConfig`` as runtimes take it: values of variables are bytes in CRI, and text here."""
    envs = [{**entry, "value": entry.get("value", b"").decode(errors="replace")} for entry in config.get("envs", ())]
    return {**config, "envs": envs}


class Selection:
    """What a ``PodSandboxFilter`` or a ``ContainerFilter`` selects."""

    def __init__(self, wanted: Config, first_state: str) -> None:
        """Take the filter, and the state that is zero, which a message leaves out."""
        self._id = wanted.get("id", "")
        self._sandbox = wanted.get("pod_sandbox_id", "")
        self._labels: Mapping[str, str] = wanted.get("label_selector", {})
        state = wanted.get("state")
        self._state = "" if state is None else state.get("state", first_state)

    def has(self, message: Mapping[str, Any]) -> bool:
        """Tell whether a message is selected; an id may be the beginning of one."""
        labels = message["labels"]
        return (
            message["id"].startswith(self._id)
            and self._state in {"", message["state"]}
            and self._sandbox in {"", message.get("pod_sandbox_id")}
            and all(labels.get(name) == value for name, value in self._labels.items())
        )
