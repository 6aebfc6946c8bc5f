"""CRI's messages as the kubelet's records.

Sources: kubernetes ``pkg/kubelet/kuberuntime/helpers.go`` (toKubeContainer), ``kuberuntime_container.go``
(toKubeContainerStatus), ``kuberuntime_sandbox.go`` (determinePodSandboxIPs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from hyperkube.hookspecs.runtime import Config, ContainerState, ContainerStatus, Image, RuntimeStatus, SandboxStatus

Record = TypeVar("Record")
POD_UID = "io.kubernetes.pod.uid"
_NANO = 1_000_000_000
_STATES = (ContainerState.CREATED, ContainerState.RUNNING, ContainerState.EXITED, ContainerState.UNKNOWN)
_STATE_OF = {f"CONTAINER_{state.name}": state for state in _STATES}


def seconds(nanoseconds: int) -> float:
    """Return a time of CRI in seconds since the epoch; 0 stays 0: not yet."""
    return nanoseconds / _NANO


class ListedRecords(Generic[Record]):
    """The records of a list that is asked for again and again: made once for each sandbox or container and state.

    All else that a list tells of one never changes. May be used from several threads: each list replaces what is known.
    """

    def __init__(self, make: Callable[[Any], Record]) -> None:
        """Make a record of a message with `make`."""
        self._make = make
        self._known: dict[str, tuple[int, Record | None]] = {}

    def of(self, messages: Iterable[Any]) -> list[Record]:
        """Return the records of the messages that belong to pods."""
        known, listed = self._known, dict[str, tuple[int, Record | None]]()
        for message in messages:
            state = message.state
            row = known.get(message.id)
            if row is None or row[0] != state:
                row = (state, self._make(message) if POD_UID in message.labels else None)
            listed[message.id] = row
        self._known = listed
        return [record for _, record in listed.values() if record is not None]


def listed_sandbox(message: Any) -> SandboxStatus:
    """Return a ``PodSandbox`` message of a list: without addresses."""
    metadata = message.metadata
    return SandboxStatus(
        id=message.id,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        attempt=metadata.attempt,
        ready=message.state == 0,
        created_at=seconds(message.created_at),
        runtime_handler=message.runtime_handler,
        labels=dict(message.labels),
        annotations=dict(message.annotations),
    )


def sandbox_status(status: Config) -> SandboxStatus:
    """Return a ``PodSandboxStatus``."""
    metadata, network = status.get("metadata", {}), status.get("network", {})
    options = status.get("linux", {}).get("namespaces", {}).get("options", {})
    on_host = options.get("network") == "NODE"
    ips = [network.get("ip", ""), *(entry.get("ip", "") for entry in network.get("additional_ips", ()))]
    return SandboxStatus(
        id=status["id"],
        namespace=metadata.get("namespace", ""),
        name=metadata.get("name", ""),
        uid=metadata.get("uid", ""),
        attempt=metadata.get("attempt", 0),
        ready=status.get("state", "SANDBOX_READY") == "SANDBOX_READY",
        created_at=seconds(status.get("created_at", 0)),
        ips=() if on_host else tuple(ip for ip in ips if ip),
        runtime_handler=status.get("runtime_handler", ""),
        host_network=on_host,
        labels=status.get("labels", {}),
        annotations=status.get("annotations", {}),
    )


def listed_container(message: Any) -> ContainerStatus:
    """Return a ``Container`` message of a list: without times of start and end, exit code and reason."""
    return ContainerStatus(
        id=message.id,
        sandbox_id=message.pod_sandbox_id,
        name=message.metadata.name,
        attempt=message.metadata.attempt,
        state=_STATES[message.state] if message.state < len(_STATES) else ContainerState.UNKNOWN,
        image=message.image.user_specified_image or message.image.image,
        image_id=message.image_id,
        image_ref=message.image_ref,
        created_at=seconds(message.created_at),
        labels=dict(message.labels),
        annotations=dict(message.annotations),
    )


def container_status(status: Config, sandbox_id: str) -> ContainerStatus:
    """Return a CRI ``ContainerStatus`` of a container in a sandbox."""
    metadata, image = status.get("metadata", {}), status.get("image", {})
    state = _STATE_OF.get(status.get("state", "CONTAINER_CREATED"), ContainerState.UNKNOWN)
    return ContainerStatus(
        id=status["id"],
        sandbox_id=sandbox_id,
        name=metadata.get("name", ""),
        attempt=metadata.get("attempt", 0),
        state=state,
        image=image.get("image", ""),
        image_id=status.get("image_id", ""),
        image_ref=status.get("image_ref", ""),
        created_at=seconds(status.get("created_at", 0)),
        started_at=seconds(status.get("started_at", 0)),
        finished_at=seconds(status.get("finished_at", 0)),
        exit_code=status.get("exit_code", 0),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        log_path=status.get("log_path", ""),
        stop_signal=_signal(status.get("stop_signal", "")),
        labels=status.get("labels", {}),
        annotations=status.get("annotations", {}),
        resources=status.get("resources", {}),
        user=status.get("user", {}),
        mounts=tuple(status.get("mounts", ())),
    )


def _signal(name: str) -> str:
    return "" if name == "RUNTIME_DEFAULT" else name


def image_of(message: Config) -> Image:
    """Return an ``Image`` message."""
    uid = message.get("uid")
    return Image(
        id=message.get("id", ""),
        tags=tuple(message.get("repo_tags", ())),
        digests=tuple(message.get("repo_digests", ())),
        size=message.get("size", 0),
        uid=None if uid is None else int(uid.get("value", 0)),
        username=message.get("username", ""),
        pinned=message.get("pinned", False),
    )


def runtime_status(response: Config) -> RuntimeStatus:
    """Return a ``StatusResponse``; a condition that the runtime does not name does not hold."""
    conditions = {entry.get("type", ""): entry for entry in response.get("status", {}).get("conditions", ())}
    return RuntimeStatus(
        runtime_problem=_problem("RuntimeReady", conditions.get("RuntimeReady")),
        network_problem=_problem("NetworkReady", conditions.get("NetworkReady")),
        handlers=tuple(response.get("runtime_handlers", ())),
        features=response.get("features", {}),
    )


def _problem(name: str, condition: Mapping[str, Any] | None) -> str:
    if condition is None:
        return f"{name} condition is not set"
    if condition.get("status"):
        return ""
    return f"{name}=false reason:{condition.get('reason', '')} message:{condition.get('message', '')}"
