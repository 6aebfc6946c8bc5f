"""Pods that start again without an API server: what runs the API server itself, on a node that was restarted.

::

    FOLDER/PodUID.yaml    {"Pod": {…}, "Checksum": …}

A pod says so with the annotation ``node.kubernetes.io/bootstrap-checkpoint: "true"``; its last version is kept until
the pod is removed. Source: kubernetes 1.15 ``pkg/kubelet/checkpoint/checkpoint.go``.
"""

from __future__ import annotations

import logging
from pathlib import Path

from hyperkube_host.kubelet.checkpointmanager.checkpoint_file import CheckpointCorrupt, CheckpointFile, canonical_json

from hyperkube.machinery.objects import Object, annotations_of, uid_of

ANNOTATION = "node.kubernetes.io/bootstrap-checkpoint"
_log = logging.getLogger("hyperkube.kubelet")


def is_checkpointed(pod: Object) -> bool:
    """Tell whether a pod is to start before the API server answers."""
    return annotations_of(pod).get(ANNOTATION) == "true"


class BootstrapCheckpoints:
    """The pods that are kept in a folder."""

    def __init__(self, folder: Path) -> None:
        """Keep them there; the folder is made with the first."""
        self._folder = folder

    def _file(self, uid: str) -> CheckpointFile:
        return CheckpointFile(self._folder / f"Pod{uid}.yaml", key="Checksum", print_for_hash=canonical_json)

    def keep(self, pod: Object) -> None:
        """Write a pod, or forget one that is not to be kept (any more)."""
        uid = str(uid_of(pod))
        if "/" in uid:
            return  # none that an API server gives
        try:
            if is_checkpointed(pod):
                self._file(uid).write({"Pod": pod})
            else:
                self._file(uid).remove()
        except OSError as error:
            _log.error("Error writing checkpoint for pod %s: %s", pod["metadata"].get("name"), error)

    def remove(self, pod: Object) -> None:
        """Forget a pod."""
        uid = str(uid_of(pod))
        if "/" not in uid:
            self._file(uid).remove()

    def load(self) -> list[Object]:
        """Return the pods; a file that cannot be trusted is removed."""
        found: list[Object] = []
        for path in sorted(self._folder.glob("Pod*.yaml")):
            file = self._file(path.name.removeprefix("Pod").removesuffix(".yaml"))
            try:
                content = file.read()
            except CheckpointCorrupt as error:
                _log.warning("Unable to load pod from checkpoint, which is removed: %s", error)
                file.remove()
                continue
            if content is not None:
                found.append(content["Pod"])
        return found
