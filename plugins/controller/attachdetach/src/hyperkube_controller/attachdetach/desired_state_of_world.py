"""What pods want attached to their nodes.

Sources: kubernetes ``pkg/controller/volume/attachdetach/cache/desired_state_of_world.go``, ``populator`` and
``util/util.go`` (CreateVolumeSpec, DetermineVolumeAction).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator

from hyperkube_controller.attachdetach.decision import Wanted
from hyperkube_lib.volume_kinds import VolumeKinds, spec_of_persistent_volume

from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.volume import Attachable, VolumeFailed, VolumeSpec
from hyperkube.kinds.pods import is_terminal, spec_of, status_of
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.kinds.volumes import claim_keys, claim_name, not_made_for
from hyperkube.machinery.objects import Object, annotations_of, is_being_deleted, name_of, namespace_of, uid_of

KEEP_TERMINATED = "volumes.kubernetes.io/keep-terminated-pod-volumes"
"""An annotation of nodes whose pods keep their volumes when they have ended."""
_BY_NODE, _BY_CLAIM = "attachdetach/node", "claim"


_MADE_ON_NODES = frozenset(
    {"name", "configMap", "downwardAPI", "emptyDir", "gitRepo", "hostPath", "image", "projected", "secret"}
)
"""The fields of volumes that come from no storage: nearly all pods have such a one, for their tokens."""


def has_volumes_of_storage(pod: Object) -> bool:
    """Tell whether the pod has a volume that may have to be attached to its node."""
    return any(not volume.keys() <= _MADE_ON_NODES for volume in spec_of(pod).get("volumes") or ())


def _node_of_storage(pod: Object) -> Iterable[str]:
    """Name the pod's node if there may be something to attach: most pods have nothing, and are not looked at."""
    return (spec_of(pod).get("nodeName", ""),) if has_volumes_of_storage(pod) else ()


def is_terminated(pod: Object) -> bool:
    """Tell whether none of the pod's containers runs any more, or will.

    Source: kubernetes ``pkg/volume/util/util.go`` (IsPodTerminated).
    """
    statuses = status_of(pod).get("containerStatuses") or ()
    return is_terminal(pod) or (is_being_deleted(pod) and not any(map(_may_run, statuses)))


def _may_run(status: Object) -> bool:
    state = status.get("state") or {}
    return state.get("terminated") is None and state.get("waiting") is None


class DesiredStateOfWorld:
    """The volumes of pods by node, as the caches have them now."""

    def __init__(self, informers: InformerFactory, kinds: VolumeKinds, logger: logging.Logger) -> None:
        self._kinds = kinds
        self._logger = logger
        self._pods = informers.informer(PODS)
        self._claims = informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = informers.informer(PERSISTENT_VOLUMES)
        self._pods.add_index(_BY_NODE, _node_of_storage)
        self._pods.add_index(_BY_CLAIM, claim_keys)

    def pods_with_claim(self, key: str) -> Iterable[Object]:
        """Return the pods of a claim, given its ``namespace/name``."""
        return self._pods.by_index(_BY_CLAIM, key)

    def wanted_by(self, node: Object) -> dict[str, Wanted]:
        """Return what the node's pods want attached, by unique name."""
        keeps_terminated = annotations_of(node).get(KEEP_TERMINATED) == "true"
        found: dict[str, Wanted] = {}
        for pod in self._pods.by_index(_BY_NODE, name_of(node)):
            if is_terminated(pod) and not keeps_terminated:
                continue
            for spec in self._specs(pod):
                try:
                    attachable = self._kinds.attachable(spec)
                except VolumeFailed as error:
                    self._logger.debug("volume %s of pod %s: %s", spec.name, name_of(pod), error)
                    continue
                if attachable is not None:
                    known = found.get(attachable[0])
                    found[attachable[0]] = Wanted(spec, (*(known.pods if known else ()), pod))
        return found

    def pods_with_volume(self, nodes: Iterable[str], volume: str) -> list[Object]:
        """Return the pods on nodes that have a volume of storage of that name."""
        return [
            pod
            for node in nodes
            for pod in self._pods.by_index(_BY_NODE, node)
            if any(spec.name == volume for spec in self._specs(pod))
        ]

    def in_use(self) -> Counter[tuple[str, str]]:
        """Count the volumes of pods on nodes, by node and kind, where the kind can be attached."""
        counted: Counter[tuple[str, str]] = Counter()
        for pod in self._pods.each():
            node = str(spec_of(pod).get("nodeName") or "")
            for spec in self._specs(pod) if node and spec_of(pod).get("volumes") else ():
                found = self._kinds.find(spec)
                if found is not None and isinstance(found[1], Attachable):
                    counted[node, found[0]] += 1
        return counted

    def _specs(self, pod: Object) -> Iterator[VolumeSpec]:
        """Yield the volumes of a pod as far as they are known now."""
        for spec in self._named(pod):
            try:
                yield self._kinds.as_known(spec, namespace_of(pod))
            except VolumeFailed as error:
                self._logger.debug("volume %s of pod %s: %s", spec.name, name_of(pod), error)

    def _named(self, pod: Object) -> Iterator[VolumeSpec]:
        for volume in spec_of(pod).get("volumes") or ():
            name = claim_name(pod, volume)
            if name is None:
                yield VolumeSpec(volume=volume)
                continue
            claim = self._claims.get(namespace_of(pod), name)
            if claim is None or ("ephemeral" in volume and not_made_for(claim, pod)):
                continue
            bound = self._volumes.get("", (claim.get("spec") or {}).get("volumeName") or "")
            if bound is None or ((bound.get("spec") or {}).get("claimRef") or {}).get("uid") != uid_of(claim):
                continue
            read_only = bool((volume.get("persistentVolumeClaim") or {}).get("readOnly"))
            yield spec_of_persistent_volume(bound, read_only=read_only)
