"""What a node lets pods do, by flags of the 1.x line: privileges, the host's namespaces, a full disk.

Sources: kubernetes 1.5 ``pkg/kubelet/util.go`` (canRunPod), ``pkg/kubelet/kubelet.go`` (canRunPod: Forbidden);
1.1 ``pkg/kubelet/disk_manager.go``, ``pkg/kubelet/kubelet.go`` (handleOutOfDisk).
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from hyperkube_host.kubelet.types.pod_spec import all_containers_of
from hyperkube_host.kubelet.types.pod_status import Failure
from hyperkube_host.kubelet.types.pod_update import SOURCE_ANNOTATION

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, annotations_of, uid_of
from hyperkube.machinery.record import Record
from hyperkube.plugin.flags import FlagValues

ALL, SOURCES = "*", ("api", "file", "http")
FORBIDDEN, OUT_OF_DISK = "Forbidden", "OutOfDisk"
LOW_DISK = "low-diskspace-threshold-mb"
_WORDS = {"hostNetwork": "host networking", "hostPID": "host PID", "hostIPC": "host ipc"}
_FLAGS = {"hostNetwork": "host-network-sources", "hostPID": "host-pid-sources", "hostIPC": "host-ipc-sources"}
_log = logging.getLogger("hyperkube.kubelet")


class Capabilities(Record):
    """What pods may do on this node.

    Attributes:
        privileged: containers may be privileged.
        sources: field of the pod's spec → the sources whose pods may set it.
    """

    privileged: bool
    sources: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, values: FlagValues) -> Capabilities:
        """Return what the values of flags allow.

        Raises:
            UsageError: there is no such source of pods.
        """
        sources = {field: _sources(flag, values[flag]) for field, flag in _FLAGS.items()}
        return cls(privileged=values["allow-privileged"], sources=sources)

    def admit(self, pod: Object) -> Failure | None:
        """Return what of the pod is not allowed here, or None."""
        uid, spec = uid_of(pod), pod["spec"]
        if not self.privileged and any(_is_privileged(container) for container in all_containers_of(pod)):
            return _forbidden(uid, "privileged container")
        source = annotations_of(pod).get(SOURCE_ANNOTATION, "api")
        for field, word in _WORDS.items():
            if spec.get(field) and source not in self.sources[field]:
                return _forbidden(uid, word)
        return None


class DiskSpace:
    """Refuses pods while a disk is nearly full."""

    def __init__(self, folders: Callable[[], Iterable[Path]], least: int) -> None:
        """Take what returns the folders whose disks count, and the bytes that must be free on each."""
        self._folders = folders
        self._least = least

    def admit(self, pod: Object) -> Failure | None:
        """Return that the node is out of disk, or None."""
        del pod
        for folder in self._folders():
            free = shutil.disk_usage(folder).free
            if free < self._least:
                _log.warning("disk of %s: %d bytes are free, --%s wants %d", folder, free, LOW_DISK, self._least)
                return Failure(OUT_OF_DISK, "cannot be started due to lack of disk space.")
        return None


def node_policy(values: FlagValues, root: Path) -> list[Capabilities | DiskSpace]:
    """Return what decides on pods by flags; the disk of the folder `root` counts only where its flag was given.

    Raises:
        UsageError: a flag has a value that cannot be.
    """
    found: list[Capabilities | DiskSpace] = [Capabilities.of(values)]
    if LOW_DISK in values.given:
        if values[LOW_DISK] < 0:
            raise UsageError(f"--{LOW_DISK}={values[LOW_DISK]}: must be at least 0")
        found.append(DiskSpace(lambda: [path for path in (root,) if path.is_dir()], values[LOW_DISK] << 20))
    return found


def _sources(flag: str, given: Iterable[str]) -> frozenset[str]:
    """Return the sources that a flag names. Source: kubernetes ``pkg/kubelet/types`` (GetValidatedSources)."""
    found: set[str] = set()
    for source in filter(None, given):
        if source == ALL:
            return frozenset(SOURCES)
        if source not in SOURCES:
            raise UsageError(f'--{flag}: unknown pod source "{source}": {", ".join((*SOURCES, ALL))}')
        found.add(source)
    return frozenset(found)


def _is_privileged(container: Object) -> bool:
    return bool((container.get("securityContext") or {}).get("privileged"))


def _forbidden(uid: str, what: str) -> Failure:
    return Failure(FORBIDDEN, f'pod with UID "{uid}" specified {what}, but is disallowed')
