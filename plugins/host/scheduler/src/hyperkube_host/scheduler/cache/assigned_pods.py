"""What is remembered of a pod that has a node: what scheduling may look at, with equal parts shared among pods.

A cluster has many more assigned pods than pending ones, and most are made of a few templates. Stored whole, fifty
thousand of them fill most of a gigabyte; like this, a tenth.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import getrefcount
from typing import Any

import orjson
from hyperkube_lib.resized_pods import resized_statuses

from hyperkube.client.informer import without_managed_fields
from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import exact, forgets

SHARED_PARTS, FEW_PARTS = 1024, 64
"""Parts remembered for sharing, twice: those of pods that come, and those of pods that came before these.

Most parts have a time in them and are met a few times within a second; those of a template stay as they are met again.
Where most have gone with their pods, few are remembered.
"""
LAYOUTS = 256
"""Sets of keys that dicts share; others have their own."""
_CONTAINER_FIELDS = ("name", "image", "ports", "resources", "restartPolicy", "restartPolicyRules")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_NOT_IN_SPEC = frozenset({
    "dnsConfig", "dnsPolicy", "enableServiceLinks", "hostAliases", "imagePullSecrets", "nodeName", "readinessGates",
    "securityContext", "serviceAccount", "shareProcessNamespace",
})  # fmt: skip
"""Fields of the spec that mean nothing to scheduling; the node's name is put in by itself."""
_STATUS_FIELDS = ("phase", "reason", "startTime", "nominatedNodeName", "qosClass", "resourceClaimStatuses")
_SHARED_METADATA = ("labels", "annotations", "ownerReferences")


class AssignedPodTransform:
    """Makes assigned pods small; a transform of informers. One thread at a time."""

    def __init__(self) -> None:
        self._parts: dict[bytes, Any] = {}
        self._earlier: dict[bytes, Any] = {}
        self._room = FEW_PARTS
        self._layouts: dict[tuple[str, ...], type] = {}
        forgets(self)

    def forget(self) -> None:
        """Forget the parts: those that are equal from now on are shared anew."""
        self._parts, self._earlier = {}, {}

    def __call__(self, pod: Object) -> Object:
        """Return a pending pod without its managed fields, and of an assigned one what scheduling may look at."""
        pod = without_managed_fields(pod)
        if not (pod.get("spec") or {}).get("nodeName"):
            return pod
        meta = dict(pod["metadata"])
        for name in _SHARED_METADATA:
            if name in meta:
                meta[name] = self._shared(meta[name])
        spec = {**self._shared(spec_for_scheduling(pod["spec"])), "nodeName": self._shared(pod["spec"]["nodeName"])}
        made = {
            "kind": pod.get("kind", "Pod"),
            "apiVersion": pod.get("apiVersion", "v1"),
            "metadata": self._sharing_keys(meta),
            "spec": self._sharing_keys(spec),
            "status": self._status(pod),
        }
        return self._sharing_keys(made)

    def _status(self, pod: Object) -> Object:
        status: Mapping[str, Any] = pod.get("status") or {}
        fields: Object = {**{name: status[name] for name in _STATUS_FIELDS if name in status}, **resized_statuses(pod)}
        conditions = [self._shared(row) for row in status.get("conditions") or ()]
        shared: Object = self._shared({**fields, "conditions": conditions} if conditions else fields)
        return shared

    def _sharing_keys(self, fields: Object) -> Object:
        """Return an equal dict that shares its table of keys with those of the same keys: half the memory, or less.

        Python gives that to the attributes of a class's instances (PEP 412), whose dict outlives them.
        """
        names = tuple(fields)
        layout = self._layouts.get(names)
        if layout is None:
            if len(self._layouts) >= LAYOUTS:
                return fields
            layout = self._layouts[names] = type("Layout", (), {})
        made: Object = layout().__dict__
        for name, value in fields.items():
            made[name] = value
        return made

    def _shared(self, part: Any) -> Any:
        """Return an equal part that was seen before, or this one."""
        key = orjson.dumps(part)
        known = self._parts.get(key)
        if known is None:
            if len(self._parts) >= self._room:
                used = sum(getrefcount(each) > _ALONE for each in self._parts.values())
                self._room = min(SHARED_PARTS, max(FEW_PARTS, 2 * used))
                self._earlier, self._parts = self._parts, {}
            known = self._parts[exact(key)] = self._earlier.get(key, part)
        return known


(_ALONE,) = [getrefcount(each) for each in {0: object()}.values()]
"""How many references there are to what only a table has."""


def spec_for_scheduling(spec: Mapping[str, Any]) -> Object:
    """Return the fields of a spec that scheduling may look at, without the node's name."""
    fields: Object = {name: value for name, value in spec.items() if name not in _NOT_IN_SPEC}
    for group in _CONTAINERS:
        if group in fields:
            fields[group] = [{name: row[name] for name in _CONTAINER_FIELDS if name in row} for row in fields[group]]
    if "volumes" in fields:
        fields["volumes"] = [volume for volume in fields["volumes"] if "projected" not in volume]
    return fields


def same_for_scheduling(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two specs, whole or as `AssignedPodTransform` leaves them, are the same for scheduling."""
    if one.get("nodeName") != other.get("nodeName"):
        return False
    return one == other or spec_for_scheduling(one) == spec_for_scheduling(other)
