"""Names and labels of Docker's containers, by which a pod's parts are found again.

Docker knows no annotations: they are labels with a prefix.

Source: kubernetes ``pkg/kubelet/dockershim/naming.go``, ``helpers.go`` (makeLabels, extractLabels).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import NamedTuple

from hyperkube.hookspecs.runtime import Config

TYPE_LABEL = "io.kubernetes.docker.type"
SANDBOX_TYPE, CONTAINER_TYPE = "podsandbox", "container"
LOG_PATH_LABEL = "io.kubernetes.container.logpath"
SANDBOX_ID_LABEL = "io.kubernetes.sandbox.id"
CONTAINER_NAME_LABEL = "io.kubernetes.container.name"
SANDBOX_NAME = "POD"

_PREFIX, _DELIMITER = "k8s", "_"
_ANNOTATION_PREFIX = "annotation."
_INTERNAL_LABELS = frozenset({TYPE_LABEL, LOG_PATH_LABEL, SANDBOX_ID_LABEL})


class ContainerNameParts(NamedTuple):
    """What the name of a container tells; `container` is ``POD`` for a sandbox."""

    container: str
    pod: str
    namespace: str
    uid: str
    attempt: int


def sandbox_name(config: Config) -> str:
    """Return the name of a new sandbox's container."""
    return _name(SANDBOX_NAME, config["metadata"], config["metadata"].get("attempt", 0))


def container_name(config: Config, sandbox_config: Config) -> str:
    """Return the name of a new container."""
    metadata = config["metadata"]
    return _name(metadata["name"], sandbox_config["metadata"], metadata.get("attempt", 0))


def _name(container: str, pod: Config, attempt: int) -> str:
    parts = (_PREFIX, container, pod["name"], pod.get("namespace", ""), pod.get("uid", ""), str(attempt))
    return _DELIMITER.join(parts)


def name_part(uid: str) -> str:
    """Return what the names of all containers of a pod have in common."""
    return f"{_DELIMITER}{uid}{_DELIMITER}"


def randomized(name: str) -> str:
    """Return another name of the same parts: for one that Docker says is taken by a container it does not have."""
    return f"{name}{_DELIMITER}{secrets.token_hex(4)}"


def parse_name(name: str) -> ContainerNameParts | None:
    """Return what a name tells, with or without Docker's slash in front; None for a container of no pod."""
    parts = name.removeprefix("/").split(_DELIMITER)
    # A seventh part is there to make the name another one.
    if len(parts) not in {6, 7} or parts[0] != _PREFIX or not parts[5].isdecimal():
        return None
    return ContainerNameParts(parts[1], parts[2], parts[3], parts[4], int(parts[5]))


def docker_labels(labels: Mapping[str, str], annotations: Mapping[str, str]) -> dict[str, str]:
    """Return Docker's labels of the labels and annotations of CRI."""
    return {**labels, **{f"{_ANNOTATION_PREFIX}{name}": value for name, value in annotations.items()}}


def cri_labels(labels: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the labels and annotations that Docker's labels are of, without those that are for this runtime alone."""
    is_sandbox = labels.get(TYPE_LABEL) == SANDBOX_TYPE
    plain: dict[str, str] = {}
    annotations: dict[str, str] = {}
    for name, value in labels.items():
        if name in _INTERNAL_LABELS or (is_sandbox and name == CONTAINER_NAME_LABEL):
            continue
        if name.startswith(_ANNOTATION_PREFIX):
            annotations[name.removeprefix(_ANNOTATION_PREFIX)] = value
        else:
            plain[name] = value
    return plain, annotations
