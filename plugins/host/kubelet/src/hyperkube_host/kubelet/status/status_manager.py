"""Writes the statuses of pods to the API when they changed.

Source: kubernetes ``pkg/kubelet/status/status_manager.go``.
"""

from __future__ import annotations

from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.types.pod_status import told_by_kubelet

from hyperkube.client.client import Client
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.machinery.objects import Object, name_of, namespace_of, resource_version_of, uid_of


class StatusManager:
    """Writes statuses and final deletions."""

    def __init__(self, client: Client | None) -> None:
        self._client = client

    def set_pod_status(self, entry: PodEntry, target: Object | None, status: Object) -> None:
        """Write a pod's status to `target`: the pod itself, or the mirror of a static pod, None while there is none.

        Raises:
            Conflict: the pod was changed meanwhile, or another one has its name; its source will tell.
            ApiError: the API server refuses; try again later.
            ConnectionError: it cannot be reached.
        """
        known = entry.reported if entry.reported is not None else (target or {}).get("status") or {}
        if entry.reported is not None and target is not None and _was_overwritten(entry, target):
            known = target["status"]
        changes = status_changes(known, status)
        if not changes:
            return
        if self._client is None:
            entry.reported = status
            return
        if target is None:
            return  # written by the sync that the mirror's creation causes
        # Lists are replaced as a whole: the version keeps a condition that another component has added meanwhile.
        version = _newest(resource_version_of(target), entry.version)
        body: Object = {"metadata": {"uid": uid_of(target), "resourceVersion": version}, "status": changes}
        entry.writing = status
        try:
            written = self._client.patch(PODS, name_of(target), body, namespace_of(target), subresource="status")
        except NotFound:
            return  # the pod is gone
        finally:
            entry.writing = None
        entry.version = resource_version_of(written)
        entry.reported = status

    def delete_pod(self, pod: Object) -> None:
        """Delete a pod from the API whose containers have ended.

        Raises:
            ApiError: the API server refuses; try again later.
            ConnectionError: it cannot be reached.
        """
        if self._client is None:
            return
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid_of(pod)}}
        try:
            self._client.delete(PODS, name_of(pod), namespace_of(pod), options=options)
        except (NotFound, Conflict):
            return  # gone already


_REMOVED = frozenset({"reason", "message", "podIP", "podIPs", "resources", "allocatedResources"})
"""Fields that a kubelet takes back."""


def status_changes(known: Object, status: Object) -> Object:
    """Return the merge patch from one status to another; fields of other components stay."""
    changes: Object = {key: value for key, value in status.items() if known.get(key) != value or key not in known}
    return changes | {key: None for key in known if key in _REMOVED and key not in status}


def _was_overwritten(entry: PodEntry, target: Object) -> bool:
    """Tell whether another component wrote what the kubelet alone decides, after the kubelet's last write.

    The node lifecycle controller marks the pods of a node that is not ready; when it is ready again, the kubelet has
    nothing new to tell, and yet has to.
    """
    version = resource_version_of(target)
    if version == entry.version or _newest(version, entry.version) != version:
        return False
    return told_by_kubelet(target.get("status") or {}) != told_by_kubelet(entry.reported or {})


def _newest(seen: str, written: str) -> str:
    """Return the version of a pod that its watch delivered last, or the one of a later write of our own."""
    if seen.isdecimal() and written.isdecimal():
        return max(seen, written, key=int)
    return seen or written
