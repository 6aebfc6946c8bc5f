"""The layout of ``--root-dir``.

::

    ROOT/pods/UID/etc-hosts, resolv.conf
    ROOT/pods/UID/volumes/PLUGIN/NAME
    ROOT/pods/UID/volumeDevices/PLUGIN/NAME         links to devices
    ROOT/pods/UID/volume-subpaths/NAME/CONTAINER/INDEX   parts of volumes
    ROOT/plugins/PLUGIN/                            what a volume plugin keeps for the whole node
    ROOT/plugins/PLUGIN/volumeDevices/NAME/UID      links to devices, by pod
    ROOT/pods/UID/containers/NAME/ATTEMPT           termination messages; eight hexadecimal digits
    ROOT/logs/NAMESPACE_NAME_UID/CONTAINER/ATTEMPT.log   or below ``--pod-logs-dir``

Source: kubernetes ``pkg/kubelet/kubelet_getters.go``; logs are named as under ``/var/log/pods``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import quote
from hyperkube.plugin.flags import FlagValues


class KubeletDirectories:
    """Paths below the root directory of a kubelet."""

    def __init__(self, root: Path, logs: Path | None = None) -> None:
        """Take the root directory, and the folder of pods' logs if it is not below it."""
        self.root = root
        self.pods = root / "pods"
        self.logs = logs or root / "logs"
        self.plugins = root / "plugins"

    def create(self) -> None:
        """Create the folder of pods, for the kubelet's user only."""
        self.pods.mkdir(parents=True, exist_ok=True)
        self.pods.chmod(0o700)  # secrets lie below; containers of other users have them mounted

    def pod(self, uid: str) -> Path:
        """Return the folder of a pod."""
        return self.pods / uid

    def pod_uids(self) -> list[str]:
        """Return the uids of the pods that have a folder."""
        return [path.name for path in self.pods.iterdir()] if self.pods.is_dir() else []

    def volume(self, uid: str, plugin: str, name: str) -> Path:
        """Return the folder of a pod's volume."""
        return self.pod(uid) / "volumes" / plugin.replace("/", "~") / name

    def volume_device(self, uid: str, plugin: str, name: str) -> Path:
        """Return the link to the device that a pod's volume is."""
        return self.pod(uid) / "volumeDevices" / plugin.replace("/", "~") / name

    def sub_paths(self, uid: str, volume: str = "") -> Path:
        """Return the folder of the mounted parts of a pod's volumes, or of one of them."""
        return self.pod(uid) / "volume-subpaths" / volume

    def plugin(self, name: str) -> Path:
        """Return the folder of a volume plugin."""
        return self.plugins / name

    def device_folder(self, plugin: str, name: str) -> Path:
        """Return the folder with the links to a volume's device."""
        return self.plugin(plugin) / "volumeDevices" / name

    def remove_device_folder(self, folder: Path) -> None:
        """Remove the folder of a device that no pod uses any more."""
        with contextlib.suppress(FileNotFoundError):
            folder.rmdir()

    def volume_folders(self, uid: str) -> list[tuple[str, str, Path]]:
        """Return (plugin, volume name, path) of what is in a pod's folder of volumes."""
        found = (self.pod(uid) / "volumes").glob("*/*")
        return [(path.parent.name.replace("~", "/", 1), path.name, path) for path in sorted(found)]

    def device_links(self, uid: str) -> list[tuple[str, str, Path]]:
        """Return (plugin, volume name, path) of a pod's links to devices."""
        found = (self.pod(uid) / "volumeDevices").glob("*/*")
        return [(path.parent.name.replace("~", "/", 1), path.name, path) for path in sorted(found)]

    def termination_message(self, uid: str, container: str, attempt: int) -> Path:
        """Return the file on the node that a container's termination message is written to."""
        return self.pod(uid) / "containers" / container / f"{attempt:08x}"

    def pod_logs(self, namespace: str, name: str, uid: str) -> Path:
        """Return the folder of a pod's logs."""
        return self.logs / f"{namespace}_{name}_{uid}"

    def remove_pod(self, uid: str) -> None:
        """Remove the folder of a pod with all that is in it."""
        shutil.rmtree(self.pod(uid), ignore_errors=True)

    def log_folders(self) -> list[tuple[str, Path]]:
        """Return (uid, path) of the pods that have a folder of logs; what is not named like one is left out."""
        found = self.logs.iterdir() if self.logs.is_dir() else ()
        return [(path.name.rsplit("_", 1)[1], path) for path in found if path.name.count("_") == 2]

    def remove_pod_logs(self, namespace: str, name: str, uid: str) -> None:
        """Remove a pod's logs."""
        shutil.rmtree(self.pod_logs(namespace, name, uid), ignore_errors=True)


def pod_logs_dir(values: FlagValues) -> Path | None:
    """Return the folder of pods' logs, None for the usual one.

    Source: kubernetes ``pkg/kubelet/apis/config/validation/validation.go`` (PodLogsDir).

    Raises:
        UsageError: it is no absolute path.
    """
    text = values["pod-logs-dir"]
    for fault, wrong in (
        ("pod logs path {} must be absolute", not text.startswith("/")),
        ("pod logs path {} must be normalized", os.path.normpath(text) != text),
        ("pod logs path {} mut contains ASCII characters only", not text.isascii()),
    ):
        if text and wrong:
            raise UsageError(f"invalid configuration: {fault.format(quote(text))}")
    return Path(text) if text else None
