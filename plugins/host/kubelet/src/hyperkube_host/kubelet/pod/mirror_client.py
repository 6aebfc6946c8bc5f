"""Mirror pods: the pods in the API that show the static pods of a node.

Source: kubernetes ``pkg/kubelet/pod/mirror_client.go``.
"""

from __future__ import annotations

from hyperkube_host.kubelet.types.pod_update import HASH_ANNOTATION, MIRROR_ANNOTATION

from hyperkube.client.client import Client
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import AlreadyExists, NotFound
from hyperkube.machinery.objects import Object, annotations_of, metadata, name_of, namespace_of, uid_of


def delete_mirror(client: Client, mirror: Object) -> None:
    """Delete a mirror pod; no error if it is gone already.

    Raises:
        ApiError: the API server refuses.
        ConnectionError: it cannot be reached.
    """
    options = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid_of(mirror)}}
    try:
        client.delete(PODS, name_of(mirror), namespace_of(mirror), options=options)
    except NotFound:
        return


def create_mirror(client: Client, pod: Object, node: Object) -> None:
    """Create the mirror of a static pod, unless there is a pod of that name.

    Raises:
        ApiError: the API server refuses.
        ConnectionError: it cannot be reached.
    """
    meta = {key: value for key, value in metadata(pod).items() if key != "uid"}
    meta["annotations"] = {**annotations_of(pod), MIRROR_ANNOTATION: annotations_of(pod)[HASH_ANNOTATION]}
    if uid_of(node):
        owner = {"apiVersion": "v1", "kind": "Node", "name": name_of(node), "uid": uid_of(node), "controller": True}
        meta["ownerReferences"] = [owner]
    mirror = {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": pod["spec"]}
    try:
        client.create(PODS, mirror, namespace_of(pod))
    except AlreadyExists:
        return
