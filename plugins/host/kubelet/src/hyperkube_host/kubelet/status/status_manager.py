"""Writes the statuses of pods to the API when they changed.

Source: kubernetes ``pkg/kubelet/status/status_manager.go``.
"""

from __future__ import annotations

from hyperkube_host.kubelet.pod.pod_entry import PodEntry

from hyperkube.client.client import Client
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of


class StatusManager:
    """Writes statuses and final deletions."""

    def __init__(self, client: Client | None) -> None:
        self._client = client

    def set_pod_status(self, entry: PodEntry, target: Object | None, status: Object) -> None:
        """Write a pod's status to `target`: the pod itself, or the mirror of a static pod, None while there is none.

        Raises:
            ApiError: the API server refuses; try again later.
            ConnectionError: it cannot be reached.
        """
        known = entry.reported if entry.reported is not None else (target or {}).get("status") or {}
        if status == known:
            return
        if self._client is None:
            entry.reported = status
            return
        if target is None:
            return  # written by the sync that the mirror's creation causes
        gone = {key: None for key in known if key not in status and key in {"reason", "message", "podIP", "podIPs"}}
        body: Object = {"metadata": {"uid": uid_of(target)}, "status": {**status, **gone}}
        try:
            self._client.patch(PODS, name_of(target), body, namespace_of(target), subresource="status")
        except (NotFound, Conflict):
            return  # the pod is gone, or another pod has its name
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
