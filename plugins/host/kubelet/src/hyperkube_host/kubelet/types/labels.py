"""The labels and annotations by which sandboxes and containers are found again in the runtime.

Sources: kubernetes ``pkg/kubelet/types/labels.go``, ``pkg/kubelet/kuberuntime/labels.go``.
"""

from __future__ import annotations

import hashlib

import orjson

from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of

POD_NAME = "io.kubernetes.pod.name"
POD_NAMESPACE = "io.kubernetes.pod.namespace"
POD_UID = "io.kubernetes.pod.uid"
CONTAINER_NAME = "io.kubernetes.container.name"
CONTAINER_HASH = "io.kubernetes.container.hash"
RESTART_COUNT = "io.kubernetes.container.restartCount"
TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath"
TERMINATION_MESSAGE_POLICY = "io.kubernetes.container.terminationMessagePolicy"
TERMINATION_GRACE_PERIOD = "io.kubernetes.pod.terminationGracePeriod"


def container_hash(container: Object) -> str:
    """Return a digest of the fields whose change needs a new container: its name and image."""
    fields = orjson.dumps([container["name"], container.get("image", "")])
    return hashlib.blake2b(fields, digest_size=4).hexdigest()


def pod_labels(pod: Object) -> dict[str, str]:
    """Return the labels of everything that belongs to a pod."""
    return {POD_NAME: name_of(pod), POD_NAMESPACE: namespace_of(pod), POD_UID: uid_of(pod)}
