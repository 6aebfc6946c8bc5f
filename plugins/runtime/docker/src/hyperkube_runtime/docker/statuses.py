"""Docker's rows and descriptions of containers as the kubelet's records.

Source: kubernetes ``pkg/kubelet/dockershim/convert.go``, ``docker_container.go`` (ContainerStatus),
``docker_sandbox.go`` (PodSandboxStatus).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hyperkube_runtime.docker.checkpoints import SandboxCheckpoint
from hyperkube_runtime.docker.create_requests import LIMITS
from hyperkube_runtime.docker.engine import Json
from hyperkube_runtime.docker.names import LOG_PATH_LABEL, SANDBOX_ID_LABEL, cri_labels, parse_name

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, SandboxStatus

PULLABLE, BY_ID = "docker-pullable://", "docker://"
_NEVER = "0001-01-01T00:00:00Z"
_KILLED = 137
OOM_SECONDS = 0.5
"""How long after the end of a container Docker may still learn that the kernel ended it."""
_STATES = {
    "created": ContainerState.CREATED,
    "running": ContainerState.RUNNING,
    "paused": ContainerState.RUNNING,
    "restarting": ContainerState.RUNNING,
    "removing": ContainerState.EXITED,
    "exited": ContainerState.EXITED,
    "dead": ContainerState.EXITED,
}


def moment(text: str) -> float:
    """Return a time of Docker in seconds since the epoch, 0 for never; digits after microseconds are dropped."""
    if not text or text == _NEVER:
        return 0.0
    whole, _, fraction = text.removesuffix("Z").partition(".")
    read = datetime.strptime(whole, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    return read.timestamp() + float(f"0.{fraction or 0}")


def listed_sandbox(row: Json) -> SandboxStatus | None:
    """Return a row of the list of containers as a sandbox, None for one that is of no pod."""
    names = next(filter(None, map(parse_name, row.get("Names") or ())), None)
    if names is None:
        return None
    labels, annotations = cri_labels(row.get("Labels") or {})
    return SandboxStatus(
        id=row["Id"],
        namespace=names.namespace,
        name=names.pod,
        uid=names.uid,
        attempt=names.attempt,
        ready=_STATES.get(row.get("State", "")) == ContainerState.RUNNING,
        created_at=float(row.get("Created", 0)),
        host_network=(row.get("HostConfig") or {}).get("NetworkMode") == "host",
        labels=labels,
        annotations=annotations,
    )


def remembered_sandbox(sandbox_id: str, checkpoint: SandboxCheckpoint) -> SandboxStatus:
    """Return a sandbox of which there is only a checkpoint: what is left of it is to be taken down."""
    return SandboxStatus(
        id=sandbox_id,
        namespace=checkpoint.namespace,
        name=checkpoint.name,
        uid=checkpoint.uid,
        attempt=0,
        ready=False,
        created_at=0.0,
        host_network=checkpoint.host_network,
    )


def sandbox_status(found: Json, ips: tuple[str, ...]) -> SandboxStatus | None:
    """Return the description of a container as a sandbox with these addresses, None for one that is of no pod."""
    names = parse_name(found.get("Name", ""))
    if names is None:
        return None
    labels, annotations = cri_labels(found["Config"].get("Labels") or {})
    on_host = found["HostConfig"].get("NetworkMode") == "host"
    return SandboxStatus(
        id=found["Id"],
        namespace=names.namespace,
        name=names.pod,
        uid=names.uid,
        attempt=names.attempt,
        ready=bool(found["State"].get("Running")),
        created_at=moment(found.get("Created", "")),
        ips=() if on_host else ips,
        host_network=on_host,
        labels=labels,
        annotations=annotations,
    )


def bridge_addresses(found: Json) -> tuple[str, ...]:
    """Return the addresses that Docker itself gave a container."""
    settings = found.get("NetworkSettings") or {}
    return tuple(filter(None, (settings.get("IPAddress", ""), settings.get("GlobalIPv6Address", ""))))


def listed_container(row: Json) -> ContainerStatus | None:
    """Return a row of the list of containers, None for one that is of no pod; exit codes and times are not in it."""
    names = next(filter(None, map(parse_name, row.get("Names") or ())), None)
    if names is None:
        return None
    docker_labels = row.get("Labels") or {}
    labels, annotations = cri_labels(docker_labels)
    return ContainerStatus(
        id=row["Id"],
        sandbox_id=docker_labels.get(SANDBOX_ID_LABEL, ""),
        name=names.container,
        attempt=names.attempt,
        state=_STATES.get(row.get("State", ""), ContainerState.UNKNOWN),
        image=row.get("Image", ""),
        image_id=row.get("ImageID", ""),
        image_ref=row.get("ImageID", ""),
        created_at=float(row.get("Created", 0)),
        log_path=docker_labels.get(LOG_PATH_LABEL, ""),
        labels=labels,
        annotations=annotations,
    )


def container_status(found: Json, image: Json) -> ContainerStatus | None:
    """Return the description of a container with that of its image, which is empty when it was removed."""
    names = parse_name(found.get("Name", ""))
    if names is None:
        return None
    docker_labels = found["Config"].get("Labels") or {}
    labels, annotations = cri_labels(docker_labels)
    tags = image.get("RepoTags") or ()
    return ContainerStatus(
        id=found["Id"],
        sandbox_id=docker_labels.get(SANDBOX_ID_LABEL, ""),
        name=names.container,
        attempt=names.attempt,
        image=tags[0] if tags else found["Config"].get("Image", ""),
        image_id=found.get("Image", ""),
        image_ref=pullable(found.get("Image", ""), image),
        created_at=moment(found.get("Created", "")),
        log_path=docker_labels.get(LOG_PATH_LABEL, ""),
        labels=labels,
        annotations=annotations,
        resources={"linux": _limits(found["HostConfig"])},
        mounts=tuple(_mount(entry) for entry in found.get("Mounts") or ()),
        **_outcome(found),
    )


def _limits(host_config: Json) -> dict[str, Any]:
    """Return the ``LinuxContainerResources`` that a container has: by them the kubelet sees that a resize is done."""
    made = {field: host_config[name] for name, field in LIMITS.items() if host_config.get(name)}
    return {**made, "oom_score_adj": int(host_config.get("OomScoreAdj") or 0)}


def _outcome(found: Json) -> dict[str, Any]:
    """Return state, times, exit code, reason and message."""
    state = found["State"]
    started, finished = moment(state.get("StartedAt", "")), moment(state.get("FinishedAt", ""))
    code, message = int(state.get("ExitCode", 0)), state.get("Error", "")
    if state.get("Running"):
        return {"state": ContainerState.RUNNING, "started_at": started}
    ended = {"state": ContainerState.EXITED, "exit_code": code, "message": message}
    if finished:
        reason = "OOMKilled" if state.get("OOMKilled") else "Error" if code else "Completed"
        return {**ended, "started_at": started, "finished_at": finished, "reason": reason}
    if code:  # it never ran; without times of its own it would look as if it had ended long ago
        created = moment(found.get("Created", ""))
        return {**ended, "started_at": created, "finished_at": created, "reason": "ContainerCannotRun"}
    return {"state": ContainerState.CREATED, "message": message}


def may_be_oom_killed(found: Json, now: float) -> bool:
    """Tell whether Docker may still say of a container that was killed that it had used up its memory.

    The daemon hears of the end of a container and of the kernel's reason in two events, in either order.

    Args:
        found: the description of the container.
        now: the time, in seconds since 1970.
    """
    state = found["State"]
    if state.get("Running") or state.get("OOMKilled") or int(state.get("ExitCode", 0)) != _KILLED:
        return False
    return bool(found["HostConfig"].get("Memory")) and now - moment(state.get("FinishedAt", "")) < OOM_SECONDS


def pullable(image_id: str, image: Json) -> str:
    """Return what Kubernetes shows as an image's id: a digest that can be pulled, if there is one."""
    digests = image.get("RepoDigests") or ()
    return f"{PULLABLE}{digests[0]}" if digests else f"{BY_ID}{image_id}"


def _mount(entry: Json) -> dict[str, Any]:
    made: dict[str, Any] = {"container_path": entry.get("Destination", ""), "host_path": entry.get("Source", "")}
    return made if entry.get("RW") else made | {"readonly": True}
