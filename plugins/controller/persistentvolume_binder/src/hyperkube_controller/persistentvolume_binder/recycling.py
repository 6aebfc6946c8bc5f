"""Recycling: a pod empties a released volume, which then is available again. Deprecated; for hostPath and NFS alone.

Each step stands on what is stored, as everywhere in this controller: the pod's state decides. What is in memory is
which pods are ours (an old one, or one that another client made under the name, is deleted and not believed) and which
volumes failed lately.

Sources: kubernetes ``pkg/controller/volume/persistentvolume/pv_controller.go`` (recycleVolumeOperation),
``pkg/volume/util/recyclerclient/recycler_client.go``, ``pkg/volume/plugins.go``, ``pkg/volume/{hostpath,nfs}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import orjson
from hyperkube_controller.persistentvolume_binder.decision import failed, unbound
from hyperkube_controller.persistentvolume_binder.recycler_events import RecyclerEvents

from hyperkube.client.actions import Action, Create, Delete, Emit, Update, perform
from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.kinds.pods import phase, status_of
from hyperkube.kinds.resources import PERSISTENT_VOLUMES, PODS
from hyperkube.machinery import quantity
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.codecs.yaml import YamlError, loads
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import AlreadyExists, NotFound, UsageError
from hyperkube.machinery.objects import Object, copy_object, metadata, name_of, namespace_of, uid_of
from hyperkube.machinery.record import Record

PREFIX = "recycler-for-"
RETRY_SECONDS = 15.0
"""Until a volume that could not be recycled is tried again: upstream's resync, ``--pvclaimbinder-sync-period``."""
SOURCES: Mapping[str, tuple[str, ...]] = {"hostPath": ("path",), "nfs": ("server", "path")}
"""The sources that can be recycled, and what of each the pod's volume is given."""
_SCRUB = 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'
TEMPLATE: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"namespace": "default"},
    "spec": {
        "restartPolicy": "Never",
        "volumes": [{"name": "vol"}],
        "containers": [
            {
                "name": "pv-recycler",
                "image": "registry.k8s.io/build-image/debian-base:bookworm-v1.0.2",
                "command": ["/bin/sh"],
                "args": ["-c", _SCRUB],
                "volumeMounts": [{"name": "vol", "mountPath": "/scrub"}],
            }
        ],
    },
}
"""The pod that empties a volume where no file says another."""


class Settings(Record):
    """Whether volumes are made; templates of recycler pods, and how many seconds they may run: at least, and per Gi."""

    enable_dynamic_provisioning: bool = True
    pv_recycler_pod_template_filepath_hostpath: str = ""
    pv_recycler_minimum_timeout_hostpath: int = 60
    pv_recycler_timeout_increment_hostpath: int = 30
    pv_recycler_pod_template_filepath_nfs: str = ""
    pv_recycler_minimum_timeout_nfs: int = 300
    pv_recycler_increment_timeout_nfs: int = 30


@dataclass(frozen=True, slots=True)
class Recycler:
    """How volumes of one source are emptied."""

    template: Object
    minimum_seconds: int
    seconds_per_gi: int


def recyclers_of(settings: Settings) -> dict[str, Recycler]:
    """Return the recycler of each source.

    Raises:
        UsageError: a template is no pod with a volume.
    """
    return {
        "hostPath": Recycler(
            _template("hostpath", settings.pv_recycler_pod_template_filepath_hostpath),
            settings.pv_recycler_minimum_timeout_hostpath,
            settings.pv_recycler_timeout_increment_hostpath,
        ),
        "nfs": Recycler(
            _template("nfs", settings.pv_recycler_pod_template_filepath_nfs),
            settings.pv_recycler_minimum_timeout_nfs,
            settings.pv_recycler_increment_timeout_nfs,
        ),
    }


def _template(kind: str, path: str) -> Object:
    if not path:
        return TEMPLATE
    wrong = f"--pv-recycler-pod-template-filepath-{kind}: could not create the recycler pod from {path!r}"
    try:
        found = _document(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"{wrong}: {error.strerror}") from error
    except YamlError as error:
        raise UsageError(f"{wrong}: {error}") from error
    if not isinstance(found, dict) or found.get("kind") != "Pod":
        raise UsageError(f"{wrong}: it is not a Pod")
    if not (found.get("spec") or {}).get("volumes"):
        raise UsageError(f"{wrong}: pod specification does not contain any volume(s)")
    return found


def _document(body: bytes) -> Any:
    """Return what a file holds; JSON without the parser of YAML, which a start would wait for."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return loads(body)[0]


def source_of(volume: Object) -> str:
    """Return the kind of a volume's source that can be recycled, or the empty string."""
    return next((kind for kind in SOURCES if (volume.get("spec") or {}).get(kind)), "")


def recycler_pod(volume: Object, recycler: Recycler) -> Object:
    """Return the pod that empties the volume; its name tells a second controller that one is at it already."""
    pod = copy_object(recycler.template)
    meta = pod.setdefault("metadata", {})
    meta.pop("generateName", None)
    meta["name"] = PREFIX + name_of(volume)
    meta.setdefault("namespace", "default")
    size = quantity.parse(((volume.get("spec") or {}).get("capacity") or {}).get("storage", "0")).value()
    seconds = max(recycler.minimum_seconds, size // 2**30 * recycler.seconds_per_gi)
    kind = source_of(volume)
    source = {member: volume["spec"][kind].get(member, "") for member in SOURCES[kind]}
    first, *others = pod["spec"]["volumes"]
    pod["spec"]["volumes"] = [{"name": first["name"], kind: source}, *others]
    pod["spec"]["activeDeadlineSeconds"] = seconds
    return pod


class Outcome(Enum):
    """How far the recycling of a volume is."""

    STARTS = "a pod is to be created"
    WORKS = "the pod works"
    RECYCLED = "the pod has emptied the volume"
    FAILED = "the volume was not emptied; it is tried again later"


def decide(volume: Object, wanted: Object, pod: Object | None, mine: str) -> tuple[Outcome, list[Action]]:
    """Return how far it is with a volume that is to be emptied, and what to do.

    Args:
        volume: the volume, released.
        wanted: the pod that would empty it.
        pod: the pod of that name, if there is one.
        mine: the uid of the pod that was made for this volume, or the empty string.
    """
    if pod is None and not mine:
        return Outcome.STARTS, [Create(PODS, wanted)]
    if pod is None:
        return Outcome.FAILED, _failed(volume, "failed to recycle volume: recycler pod was deleted")
    gone = Delete.of(PODS, pod)
    if uid_of(pod) != mine:
        return Outcome.FAILED, [*_failed(volume, "old recycler pod found, will retry later"), gone]
    if phase(pod) == "Succeeded":
        done = Emit(volume, "Normal", "VolumeRecycled", "Volume recycled")
        return Outcome.RECYCLED, [Update(PERSISTENT_VOLUMES, unbound(volume)), done, gone]
    if phase(pod) == "Failed":
        why = status_of(pod).get("message") or "pod failed, pod.Status.Message unknown"
        return Outcome.FAILED, [*_failed(volume, f"failed to recycle volume: {why}"), gone]
    return Outcome.WORKS, []


def _failed(volume: Object, why: str) -> list[Action]:
    return failed(volume, "VolumeFailedRecycle", f"Recycle failed: {why}")


class Recycling:
    """Empties the volumes that it is asked to; all calls come from the one worker of the controller."""

    def __init__(
        self, client: Client, recorder: EventRecorder, clock: Clock, recyclers: Mapping[str, Recycler]
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._clock = clock
        self._recyclers = recyclers
        self._mine: dict[str, str] = {}
        self._failed: dict[str, float] = {}
        self._events = RecyclerEvents(client, recorder)

    def close(self) -> None:
        """Follow no events any more."""
        self._events.close()

    def forget(self, name: str) -> None:
        """A volume is gone."""
        self._settle(name)

    def sync(self, volume: Object, users: Callable[[], list[str]]) -> float | None:
        """Do what comes next for a released volume; return the seconds after which to look again, or None.

        Args:
            volume: the volume.
            users: returns the pods that still use it.
        """
        name, recycler = name_of(volume), self._recyclers.get(source_of(volume))
        if recycler is None:
            text = "No recycler plugin found for the volume!"
            perform(self._client, self._recorder, failed(volume, "VolumeFailedRecycle", text))
            return None
        mine = self._mine.get(name, "")
        if not mine:
            left = self._failed.get(name, 0.0) - self._clock.monotonic()
            if left > 0:
                return left
            if names := users():
                text = f"Volume is used by pods: {','.join(names)}"
                self._recorder.event(volume, "Normal", "VolumeFailedRecycle", text)
                return self._again(name)
            if not self._is_current(volume):
                return None  # the newer one is on its way into the cache
        wanted = recycler_pod(volume, recycler)
        outcome, actions = decide(volume, wanted, self._live(wanted), mine)
        if outcome is Outcome.STARTS:
            return self._start(volume, wanted)
        perform(self._client, self._recorder, actions)
        if outcome is Outcome.WORKS:
            return None
        self._settle(name)
        return self._again(name) if outcome is Outcome.FAILED else None

    def _start(self, volume: Object, pod: Object) -> float | None:
        try:
            made = self._client.create(PODS, pod, namespace_of(pod))
        except AlreadyExists:  # since we looked: another controller is at it, and the next look settles it
            return self._again(name_of(volume))
        self._mine[name_of(volume)] = uid_of(made)
        self._events.follow(uid_of(made), volume)
        return None

    def _settle(self, name: str) -> None:
        self._events.leave(self._mine.pop(name, ""))
        self._failed.pop(name, None)

    def _again(self, name: str) -> float:
        """Note that a volume could not be emptied: it is not tried again at once by what its own status sets off."""
        self._failed[name] = self._clock.monotonic() + RETRY_SECONDS
        return RETRY_SECONDS

    def _live(self, pod: Object) -> Object | None:
        try:
            return self._client.get(PODS, name_of(pod), namespace_of(pod))
        except NotFound:
            return None

    def _is_current(self, volume: Object) -> bool:
        try:
            now = self._client.get(PERSISTENT_VOLUMES, name_of(volume))
        except NotFound:
            return False
        return metadata(now).get("resourceVersion") == metadata(volume).get("resourceVersion")
