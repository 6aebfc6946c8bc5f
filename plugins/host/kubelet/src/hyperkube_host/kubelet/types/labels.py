"""The labels and annotations by which sandboxes and containers are found again in the runtime.

Sources: kubernetes ``pkg/kubelet/types/labels.go``, ``pkg/kubelet/kuberuntime/labels.go``.
"""

from __future__ import annotations

import hashlib

import orjson

from hyperkube.machinery.objects import Object, metadata, name_of, namespace_of, uid_of

POD_NAME = "io.kubernetes.pod.name"
POD_NAMESPACE = "io.kubernetes.pod.namespace"
POD_UID = "io.kubernetes.pod.uid"
CONTAINER_NAME = "io.kubernetes.container.name"
CONTAINER_HASH = "io.kubernetes.container.hash"
RESTART_COUNT = "io.kubernetes.container.restartCount"
TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath"
TERMINATION_MESSAGE_POLICY = "io.kubernetes.container.terminationMessagePolicy"
TERMINATION_GRACE_PERIOD = "io.kubernetes.pod.terminationGracePeriod"
DELETION_GRACE_PERIOD = "io.kubernetes.pod.deletionGracePeriod"
PRE_STOP_HANDLER = "io.kubernetes.container.preStopHandler"
CONTAINER_PORTS = "io.kubernetes.container.ports"
DEFAULT_MESSAGE_PATH = "/dev/termination-log"


def container_hash(container: Object) -> str:
    """Return a digest of the fields whose change needs a new container: its name and image."""
    fields = orjson.dumps([container["name"], container.get("image", "")])
    return hashlib.blake2b(fields, digest_size=4).hexdigest()


def pod_labels(pod: Object) -> dict[str, str]:
    """Return the labels of everything that belongs to a pod."""
    return {POD_NAME: name_of(pod), POD_NAMESPACE: namespace_of(pod), POD_UID: uid_of(pod)}


def container_labels(pod: Object, container: Object) -> dict[str, str]:
    """Return the labels of a container."""
    return {**pod_labels(pod), CONTAINER_NAME: container["name"]}


def container_annotations(pod: Object, container: Object, attempt: int) -> dict[str, str]:
    """Return what is needed to know of a container once its pod is gone from the API."""
    found = {
        CONTAINER_HASH: container_hash(container),
        RESTART_COUNT: str(attempt),
        TERMINATION_MESSAGE_PATH: container.get("terminationMessagePath") or DEFAULT_MESSAGE_PATH,
        TERMINATION_MESSAGE_POLICY: container.get("terminationMessagePolicy") or "File",
    }
    deletion, grace = metadata(pod).get("deletionGracePeriodSeconds"), pod["spec"].get("terminationGracePeriodSeconds")
    if deletion is not None:
        found[DELETION_GRACE_PERIOD] = str(deletion)
    if grace is not None:
        found[TERMINATION_GRACE_PERIOD] = str(grace)
    handler = (container.get("lifecycle") or {}).get("preStop")
    if handler:
        found[PRE_STOP_HANDLER] = orjson.dumps(handler).decode()
    if container.get("ports"):
        found[CONTAINER_PORTS] = orjson.dumps(container["ports"]).decode()
    return found
