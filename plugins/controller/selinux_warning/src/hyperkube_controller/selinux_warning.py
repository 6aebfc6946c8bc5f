"""selinux-warning: pods that share a volume but want other SELinux labels on it are told so.

A volume that is mounted with a label (``mount -o context``) has one for all its pods on a node. Two pods that want
different ones, or of which just one wants it mounted so, cannot run side by side: both get an event. A part of a label
that a pod leaves open conflicts with nothing, since the node fills it in.
The conflicts that there are now are at ``/metrics`` as well, with the names of all pods and namespaces.
Source: kubernetes ``pkg/controller/volume/selinuxwarning``, ``pkg/volume/util/selinux.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import containers, is_terminal, spec_of
from hyperkube.kinds.resources import CSI_DRIVERS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.kinds.volumes import claim_keys, claim_name
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.metric_families import Gauge
from hyperkube.machinery.objects import Object, key_of, name_of, namespace_of, split_key
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

MOUNT_OPTION, RECURSIVE = "MountOption", "Recursive"
_PARTS = ("user", "role", "type", "level")
_MOUNTABLE_IN_TREE = ("fc", "iscsi", "rbd")
"""Kinds of volumes beside CSI's that can be mounted with a label."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a pod wants of a volume: a label, empty for none, and how it gets there."""

    label: str
    policy: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """What one of two pods that share a volume is told."""

    pod: str
    name: str
    value: str
    other: str
    other_value: str

    @property
    def reason(self) -> str:
        """The event's reason."""
        return f"{self.name}Conflict"

    @property
    def message(self) -> str:
        """The event's message; of pods in other namespaces it gives nothing away."""
        tail = "If both pods land on the same node, only one of them may access the volume."
        if split_key(self.pod)[0] == split_key(self.other)[0]:
            who = f"pod {split_key(self.other)[1]} that uses the same volume as this pod with"
            return f'{self.name} "{self.value}" conflicts with {who} {self.name} "{self.other_value}". {tail}'
        who = "another pod that uses the same volume as this pod with a different"
        return f'{self.name}"{self.value}" conflicts with {who} {self.name}. {tail}'


def file_label(options: Object | None) -> str:
    """Return the label that SELinux options stand for; what they leave open stays empty."""
    parts = [str((options or {}).get(part) or "") for part in _PARTS]
    return ":".join(parts) if any(parts) else ""


def labels_conflict(one: str, other: str) -> bool:
    """Tell whether two labels differ in a part that both have."""
    pairs = zip(one.split(":", 3), other.split(":", 3), strict=False)
    return any(a and b and a != b for a, b in pairs)


def mounted_labels(pod: Object) -> Iterator[tuple[str, set[str]]]:
    """Yield each volume that containers mount, and the labels that they want for it."""
    shared = (spec_of(pod).get("securityContext") or {}).get("seLinuxOptions")
    found: dict[str, set[str]] = {}
    for container in containers(pod):
        own = (container.get("securityContext") or {}).get("seLinuxOptions")
        label = file_label(own if own is not None else shared)
        for mount in [*(container.get("volumeMounts") or ()), *(container.get("volumeDevices") or ())]:
            found.setdefault(mount.get("name", ""), set()).add(label)
    yield from found.items()


def unique_name(volume: Object) -> tuple[str, str]:
    """Return by what a persistent volume is known on nodes, and its CSI driver; empty if it cannot have a label."""
    spec = volume.get("spec") or {}
    csi = spec.get("csi")
    if csi:
        return f"kubernetes.io/csi/{csi.get('driver')}^{csi.get('volumeHandle')}", str(csi.get("driver") or "")
    kind = next((kind for kind in _MOUNTABLE_IN_TREE if spec.get(kind)), "")
    return (f"kubernetes.io/{kind}/{name_of(volume)}", "") if kind else ("", "")


def use_of(pod: Object, label: str, *, mountable: bool) -> Use:
    """Return what a pod wants of a volume."""
    policy = (spec_of(pod).get("securityContext") or {}).get("seLinuxChangePolicy") or MOUNT_OPTION
    if not mountable or policy == RECURSIVE or not label:
        return Use("", RECURSIVE)
    return Use(label, policy)


class VolumeCache:
    """Which pod wants what of which volume; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._volumes: dict[str, dict[str, Use]] = {}

    def put(self, volume: str, pod: str, use: Use) -> list[Conflict]:
        """Note what a pod wants; return the conflicts that are new by that, for each pod of a pair."""
        with self._lock:
            uses = self._volumes.setdefault(volume, {})
            if uses.get(pod) == use:
                return []
            uses[pod] = use
            return [conflict for other in uses for conflict in _conflicts(uses, pod, other)]

    def conflicts(self) -> list[Conflict]:
        """Return all that there are now, for each pod of a pair."""
        with self._lock:
            return [
                conflict
                for uses in self._volumes.values()
                for pod in uses
                for other in uses
                if pod < other
                for conflict in _conflicts(uses, pod, other)
            ]

    def drop(self, pod: str) -> None:
        """Forget a pod that is gone or has ended."""
        with self._lock:
            for volume in [name for name, uses in self._volumes.items() if pod in uses]:
                del self._volumes[volume][pod]
                if not self._volumes[volume]:
                    del self._volumes[volume]


def _conflicts(uses: Mapping[str, Use], pod: str, other: str) -> Iterator[Conflict]:
    """Yield what two pods are told of each other; nothing for one pod and itself."""
    one, two = uses[pod], uses[other]
    if pod != other and one.policy != two.policy:
        yield from _both("SELinuxChangePolicy", (pod, one.policy), (other, two.policy))
    if pod != other and labels_conflict(one.label, two.label):
        yield from _both("SELinuxLabel", (pod, one.label), (other, two.label))


def _both(name: str, one: tuple[str, str], other: tuple[str, str]) -> list[Conflict]:
    return [Conflict(one[0], name, one[1], *other), Conflict(other[0], name, other[1], *one)]


class ConflictMetrics(ControllerMetrics):
    """The conflicts as of when they are asked for. Source: kubernetes ``selinuxwarning/metrics.go``."""

    def __init__(self, conflicts: Callable[[], Iterable[Conflict]]) -> None:
        super().__init__()
        self._conflicts = conflicts

    def collect(self) -> Iterator[Metric]:
        """Return one row for each pod of a pair."""
        text = "Conflict between two Pods using the same volume"
        pods = ("pod1_namespace", "pod1_name", "pod1_value", "pod2_namespace", "pod2_name", "pod2_value")
        gauge = Gauge("selinux_warning_controller_selinux_volume_conflict", text, ("property", *pods))
        yield gauge.family(
            {
                (one.name, *split_key(one.pod), one.value, *split_key(one.other), one.other_value): 1.0
                for one in self._conflicts()
            }
        )


class SelinuxWarning(Plugin):
    """Tells pods of conflicts."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._cache = VolumeCache()
        self._metrics = ConflictMetrics(self._cache.conflicts)
        self._metrics.register(self.context)
        self._recorder = EventRecorder(self.client, self.context.clock, "selinux_warning")
        self._pods = self.informers.informer(PODS)
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._drivers = self.informers.informer(CSI_DRIVERS)
        self._pods.add_index("selinux/claim", claim_keys)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._loop.watch(self._pods)
        self._claims.add_handler(self._claim_seen, lambda _old, new: self._claim_seen(new))
        self._volumes.add_handler(self._volume_seen, lambda _old, new: self._volume_seen(new))
        self._drivers.add_handler(self._driver_changed, self._driver_updated, self._driver_changed)
        return self._loop

    def _claim_seen(self, claim: Object) -> None:
        for pod in self._pods.by_index("selinux/claim", key_of(claim)):
            self._loop.enqueue(pod)

    def _volume_seen(self, volume: Object) -> None:
        reference = (volume.get("spec") or {}).get("claimRef") or {}
        for pod in self._pods.by_index("selinux/claim", f"{reference.get('namespace')}/{reference.get('name')}"):
            self._loop.enqueue(pod)

    def _driver_changed(self, driver: Object) -> None:
        for volume in self._volumes.list():
            if unique_name(volume)[1] == name_of(driver):
                self._volume_seen(volume)

    def _driver_updated(self, old: Object, new: Object) -> None:
        if _mounts_labels(old) != _mounts_labels(new):
            self._driver_changed(new)

    def _sync(self, key: str) -> None:
        pod = self._pods.get(*split_key(key))
        if pod is None or is_terminal(pod):
            self._cache.drop(key)
            return
        volumes = self._persistent_volumes(pod)
        for mount, labels in mounted_labels(pod):
            volume = volumes.get(mount)
            if volume is None:
                continue
            if len(labels) > 1:
                text = f'Volume "{mount}" is mounted twice with different SELinux labels inside this pod'
                self._recorder.event(pod, "Warning", "MultipleSELinuxLabels", text)
                continue
            name, driver = unique_name(volume)
            if name:
                mountable = not driver or _mounts_labels(self._drivers.get("", driver) or {})
                self._tell(self._cache.put(name, key, use_of(pod, next(iter(labels)), mountable=mountable)))

    def _persistent_volumes(self, pod: Object) -> Mapping[str, Object]:
        """Return the persistent volumes behind the pod's volumes, as far as its claims are bound."""
        found: dict[str, Object] = {}
        for entry in spec_of(pod).get("volumes") or ():
            name = claim_name(pod, entry)
            claim = self._claims.get(namespace_of(pod), name) if name else None
            bound_to = ((claim or {}).get("spec") or {}).get("volumeName")
            volume = self._volumes.get("", bound_to) if bound_to else None
            if volume is not None:
                found[entry.get("name", "")] = volume
        return found

    def _tell(self, conflicts: list[Conflict]) -> None:
        for conflict in conflicts:
            pod = self._pods.get(*split_key(conflict.pod))
            if pod is None:
                return  # resolved by the deletion of one of the two
            self._recorder.event(pod, "Normal", conflict.reason, conflict.message)


def _mounts_labels(driver: Object) -> bool:
    return bool((driver.get("spec") or {}).get("seLinuxMount"))
