"""The layout of ``--root-dir``.

::

    ROOT/pods/UID/etc-hosts, resolv.conf
    ROOT/pods/UID/volumes/PLUGIN/NAME
    ROOT/pods/UID/containers/NAME/ATTEMPT           termination messages; eight hexadecimal digits
    ROOT/logs/NAMESPACE_NAME_UID/CONTAINER/ATTEMPT.log

Source: kubernetes ``pkg/kubelet/kubelet_getters.go``; logs are named as under ``/var/log/pods``.
"""

from __future__ import annotations

import shutil
from pathlib import Path


class KubeletDirectories:
    """Paths below the root directory of a kubelet."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pods = root / "pods"
        self.logs = root / "logs"

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

    def termination_message(self, uid: str, container: str, attempt: int) -> Path:
        """Return the file on the node that a container's termination message is written to."""
        return self.pod(uid) / "containers" / container / f"{attempt:08x}"

    def pod_logs(self, namespace: str, name: str, uid: str) -> Path:
        """Return the folder of a pod's logs."""
        return self.logs / f"{namespace}_{name}_{uid}"

    def remove_pod(self, uid: str) -> None:
        """Remove the folder of a pod with all that is in it."""
        shutil.rmtree(self.pod(uid), ignore_errors=True)

    def remove_pod_logs(self, namespace: str, name: str, uid: str) -> None:
        """Remove a pod's logs."""
        shutil.rmtree(self.pod_logs(namespace, name, uid), ignore_errors=True)
