"""Brings the volumes of pods to what they should be (desired state) from what they are (actual state).

A pod's worker calls `VolumeManager.setup` at every sync. What is ready costs nothing, what follows objects of the API
is brought up to date, and what is missing is begun on a thread of its own. Nothing runs while nothing changes: the
pod's worker is called again when an operation is done, or when a failed one may be tried again.

Source: kubernetes ``pkg/kubelet/volumemanager/volume_manager.go``, ``reconciler/reconciler.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld, MountedForPod
from hyperkube_host.kubelet.volumemanager.mount_labels import MountLabels
from hyperkube_host.kubelet.volumemanager.mount_volume import MountFailed, VolumeMounter
from hyperkube_host.kubelet.volumemanager.node_expansion import NodeExpansion
from hyperkube_host.kubelet.volumemanager.operations import Operation, OperationKey, Operations
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume, PodVolumes, VolumeNotProcessed
from hyperkube_host.kubelet.volumemanager.reconstruction import Reconstruction

from hyperkube.hookspecs.volume import Remounts, VolumeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, uid_of

WAIT_SECONDS = 2.0
"""How long a pod's worker waits for its volumes before it goes on without them."""
TIMEOUT_SECONDS = 123.0
"""How long volumes may take until an event says which are missing. Kubernetes: ``podAttachAndMountTimeout``."""
_log = logging.getLogger("hyperkube.kubelet.volumes")


class StillMounting(Exception):
    """Volumes are not ready yet and no failure is known: the pod is synced again when one is done."""


class VolumeManager:
    """Mounts and unmounts the volumes of pods."""

    def __init__(
        self,
        volumes: PodVolumes,
        state: ActualStateOfWorld,
        mounter: VolumeMounter,
        reconstruction: Reconstruction,
        expansion: NodeExpansion,
        labels: MountLabels,
        clock: Clock,
        *,
        requeue: Callable[[str], None],
        in_use_changed: Callable[[], None],
    ) -> None:
        """Call `requeue` with a pod's uid to sync it again, `in_use_changed` when other volumes are in use."""
        self._volumes = volumes
        self._state = state
        self._mounter = mounter
        self._reconstruction = reconstruction
        self._expansion = expansion
        self._labels = labels
        self._clock = clock
        self._in_use_changed = in_use_changed
        self._operations = Operations(clock, requeue)
        self._waiting_since: dict[str, float] = {}

    def setup(self, pod: Object) -> dict[str, str]:
        """Set up all volumes, or update their content from its sources; return volume name → path on the node.

        Raises:
            MountFailed: for the first that is not ready.
            StillMounting: one takes long.
        """
        uid = uid_of(pod)
        entries = [volume for volume in pod["spec"].get("volumes") or () if "image" not in volume]
        if not entries:
            return {}  # the runtime mounts images itself
        resolved, problems = self._resolve(pod, entries)
        wanted = frozenset(volume.unique_name for volume in resolved if volume.attachable is not None)
        if self._state.want(uid, wanted):
            self._in_use_changed()
        failure, late = self._mount_all(pod, resolved)
        if failure is not None:
            self._waiting_since.pop(uid, None)
            raise failure
        if problems:
            raise self._not_ready(uid, entries, "; ".join(text for _, text in problems), [n for n, _ in problems])
        if late:
            self._check_timeout(uid, entries)
            raise StillMounting
        self._waiting_since.pop(uid, None)
        mounted = self._state.mounted(uid)
        self._expand(pod, mounted)
        return {name: one.path for name, one in mounted.items()}

    def _expand(self, pod: Object, mounted: Mapping[str, MountedForPod]) -> None:
        """Begin to grow what has become larger; a failure is tried again at the next sync."""
        for name, one in mounted.items():
            if size := self._expansion.wanted(one):
                key = OperationKey(uid_of(pod), f"expand {name}")
                operation = self._operations.start(key, partial(self._expansion.expand, pod, one, size))
                if self._operations.wait(operation, self._clock.monotonic()) and operation.error is not None:
                    _log.warning("volume %s could not be expanded yet: %s", one.volume.spec.name, operation.error)

    def _resolve(self, pod: Object, entries: Iterable[Object]) -> tuple[list[PodVolume], list[tuple[str, str]]]:
        """Return the volumes, and name and problem of those that cannot be told."""
        mounted, resolved, problems = self._state.mounted(uid_of(pod)), [], []
        for volume in entries:
            known = mounted.get(volume["name"])
            # A volume that is ready stays what it was: its claim may be on its way out.
            if known is not None:
                resolved.append(known.volume)
                continue
            try:
                resolved.append(self._labels.labelled(pod, uid_of(pod), self._volumes.resolve(pod, volume)))
            except VolumeNotProcessed as error:
                problems.append((str(volume["name"]), str(error)))
            except (VolumeFailed, ApiError) as error:
                text = error.message if isinstance(error, ApiError) else str(error)
                raise MountFailed(f'MountVolume.SetUp failed for volume "{volume["name"]}" : {text}') from error
        return resolved, problems

    def _mount_all(self, pod: Object, volumes: Sequence[PodVolume]) -> tuple[MountFailed | None, bool]:
        """Bring all volumes further; return the first failure, and whether one takes longer."""
        uid = uid_of(pod)
        mounted = self._state.mounted(uid)
        begun: list[Operation] = []
        failure: MountFailed | None = None
        for volume in volumes:
            follows = isinstance(volume.plugin, Remounts) and volume.plugin.requires_remount(volume.spec.volume)
            if volume.name in mounted and not follows:
                continue
            if follows and volume.attachable is None and volume.device_mountable is None:
                # Files made of API objects: nothing that hangs, so a thread of its own would only cost.
                try:
                    self._mounter.mount(pod, volume)
                except MountFailed as error:
                    failure = failure or error
                continue
            work = partial(self._mounter.mount, pod, volume)
            begun.append(self._operations.start(OperationKey(uid, volume.name), work))
        until = self._clock.monotonic() + WAIT_SECONDS
        late = False
        for operation in begun:
            if not self._operations.wait(operation, until):
                late = True
            elif isinstance(operation.error, MountFailed):
                failure = failure or operation.error
            elif operation.error is not None:
                raise operation.error
        return failure, late

    def _check_timeout(self, uid: str, entries: Iterable[Object]) -> None:
        since = self._waiting_since.setdefault(uid, self._clock.monotonic())
        if self._clock.monotonic() - since >= TIMEOUT_SECONDS:
            self._waiting_since[uid] = self._clock.monotonic()
            raise self._not_ready(uid, entries, "timed out waiting for the condition", ())

    def _not_ready(self, uid: str, entries: Iterable[Object], problem: str, unknown: Sequence[str]) -> MountFailed:
        """Return what the event says of a pod whose volumes are not ready, and of none it is known why."""
        mounted = self._state.mounted(uid)
        unmounted = sorted(volume["name"] for volume in entries if volume["name"] not in mounted)
        text = f"unmounted volumes={_go(unmounted)}, unattached volumes=[], failed to process volumes={_go(unknown)}"
        return MountFailed(f"Unable to attach or mount volumes: {text}: {problem}")

    def teardown(self, pod: Object) -> bool:
        """Tear down the volumes of an ended pod and remove its folder; tell whether that is done."""
        uid = uid_of(pod)
        self._labels.pod_ended(uid)
        work = partial(self._tear_down, uid)
        operation = self._operations.start(OperationKey(uid, ""), work)
        if not self._operations.wait(operation, self._clock.monotonic() + WAIT_SECONDS):
            return False
        if operation.error is not None:
            _log.warning("volumes of pod %s could not be torn down yet: %s", uid, operation.error)
            return False
        self._waiting_since.pop(uid, None)
        self._operations.forget(uid)
        self._labels.forget(uid)
        if self._state.want(uid, frozenset()):
            self._in_use_changed()
        return True

    def _tear_down(self, uid: str) -> None:
        if self._operations.is_busy(uid, but=""):
            raise VolumeFailed("a volume is still being mounted")
        for mounted in self._state.mounted(uid).values():
            self._mounter.unmount(uid, mounted.volume)
        # What failed half-way, or was mounted by an earlier kubelet, shows on the disk alone.
        if not self._reconstruction.clean_up(uid):
            raise VolumeFailed("its folder is still in use")

    def clean_up(self, uid: str) -> bool:
        """Undo what an unknown pod has left on the disk; tell whether nothing is left."""
        return self._reconstruction.clean_up(uid)

    def unmount_unused_devices(self) -> None:
        """Unmount devices that an earlier kubelet mounted and no pod of this node uses."""
        self._reconstruction.unmount_unused_devices(self._state.device_mount_paths())

    def close(self) -> None:
        """Begin nothing more; what is mounted stays for the pods, which run on."""
        self._operations.close()


def _go(names: Sequence[str]) -> str:
    """Return names as Go prints a slice."""
    return f"[{' '.join(names)}]"
