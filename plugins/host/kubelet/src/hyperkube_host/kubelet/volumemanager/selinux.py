"""SELinux: which label the files of a container have, as far as this node's kernel knows labels at all.

Where it knows none, no label is computed and nothing is labelled. Sources: kubernetes ``pkg/volume/util/selinux.go``;
go-selinux ``label/label_linux.go`` (InitLabels), ``go-selinux/selinux_linux.go`` (GetEnabled, containerLabels).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld, MountedForPod
from hyperkube_lib.volume_mount import Mount, mount_table

from hyperkube.machinery.objects import Object

_PARTS = ("user", "role", "type", "level")
_SHARED_CONTEXTS = "usr/share/containers/selinux/contexts"
_RELABELLED = (
    *("emptyDir", "gitRepo", "configMap", "secret", "projected", "downwardAPI", "local"),
    *("iscsi", "fc", "rbd", "storageos", "scaleIO"),
)
"""Sources whose files the runtime labels (``SELinuxRelabel`` of their mounters); csi where the file system can."""
_CONTEXT = re.compile(r'(?:^|,)context=(?:"([^"]*)"|([^,]*))')


class SELinux:
    """What the node says of SELinux; read once."""

    def __init__(self, root: Path = Path("/")) -> None:
        """Read the files below `root`."""
        self._root = root
        self.is_enabled = self._has_selinux()
        self._file_context = self._context_of_files() if self.is_enabled else ""

    def file_label(self, options: Object | None) -> str:
        """Return the label of the files of a container with these ``seLinuxOptions``; empty where it is not known.

        It is the policy's for containers' files, with the container's user and level. Without a level it is not known:
        the runtime gives each container a level of its own.
        """
        level = (options or {}).get("level")
        parts = self._file_context.split(":", 3)
        if not level or len(parts) != len(_PARTS):
            return ""
        return ":".join([(options or {}).get("user") or parts[0], parts[1], parts[2], level])

    def mounts(self) -> list[Mount]:
        """Return the node's mounts."""
        return mount_table(self._root / "proc/self/mountinfo")

    def mounted_label(self, path: str) -> str | None:
        """Return the label that a file system was mounted with, empty for none; None where nothing is mounted."""
        found = next((mount for mount in reversed(self.mounts()) if mount.path == path), None)
        if found is None:
            return None
        context = _CONTEXT.search(",".join(found.options))
        return (context.group(1) or context.group(2) or "") if context else ""

    def _has_selinux(self) -> bool:
        if not any(mount.type == "selinuxfs" for mount in self.mounts()):
            return False
        return self._text("proc/self/attr/current").strip("\0\n") != "kernel"  # that is: no policy is loaded

    def _context_of_files(self) -> str:
        text = self._text(_SHARED_CONTEXTS)
        if not text:
            policy = _settings(self._text("etc/selinux/config")).get("SELINUXTYPE") or "targeted"
            text = self._text(f"etc/selinux/{policy}/contexts/lxc_contexts")
        return _settings(text).get("file", "")

    def _text(self, path: str) -> str:
        try:
            return (self._root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


def _settings(text: str) -> dict[str, str]:
    """Return the values of lines ``name = "value"``."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if "=" in line and line[0] not in "#;")
    return {name.strip(): value.strip().strip('"') for name, _, value in pairs}


class Relabelling:
    """Which volumes a runtime is to label (``selinux_relabel`` of CRI's ``Mount``)."""

    def __init__(self, selinux: SELinux, mounted: Callable[[str], dict[str, MountedForPod]]) -> None:
        """Ask `mounted` for the volumes of a pod that are ready, by the pod's uid."""
        self._selinux = selinux
        self._mounted = mounted

    @classmethod
    def on_this_node(cls, state: ActualStateOfWorld) -> Relabelling:
        """Return that of the node of this process."""
        return cls(SELinux(), state.mounted)

    @property
    def of_own_files(self) -> bool:
        """Whether those files are labelled that the kubelet itself mounts into containers."""
        return self._selinux.is_enabled

    def volumes(self, uid: str) -> Collection[str]:
        """Return the names of a pod's volumes whose first mount of a container is to be labelled."""
        if not self._selinux.is_enabled:
            return ()
        return {name for name, one in self._mounted(uid).items() if self._is_labelled(one)}

    def _is_labelled(self, one: MountedForPod) -> bool:
        spec = one.volume.spec
        if one.is_device or spec.read_only or one.volume.selinux_label:
            return False
        if "csi" in spec.volume:
            return any(mount.path == one.path and "seclabel" in mount.options for mount in self._selinux.mounts())
        return any(source in spec.volume for source in _RELABELLED)
