"""What a container had to say at its end: its message file, or the end of its log."""

from __future__ import annotations

from pathlib import Path

from hyperkube_host.kubelet.container_start import message_file
from hyperkube_host.kubelet.log_files import last_text
from hyperkube_host.kubelet.observation import MESSAGE_POLICY, Observed
from hyperkube_host.kubelet.pod_entry import PodEntry
from hyperkube_host.kubelet.volumes import PodVolumes

from hyperkube.hookspecs.runtime import ContainerStatus
from hyperkube.machinery.objects import uid_of

FILE_LIMIT = 4096
LOG_BYTES, LOG_LINES = 2048, 80


class TerminationMessages:
    """Reads the messages of ended containers, each once."""

    def __init__(self, volumes: PodVolumes) -> None:
        self._volumes = volumes

    def read(self, entry: PodEntry, seen: Observed) -> dict[str, str]:
        """Return container id → message for the ended containers of a pod."""
        for status in seen.all():
            if status.state == "exited" and status.id not in entry.messages:
                known = _reported(entry, status.id)
                entry.messages[status.id] = self._message(uid_of(entry.pod), status) if known is None else known
        return entry.messages

    def _message(self, uid: str, status: ContainerStatus) -> str:
        path = message_file(self._volumes, uid, status.name, status.attempt)
        try:
            with path.open("rb") as source:
                text = source.read(FILE_LIMIT).decode(errors="replace")
        except OSError:
            text = ""
        policy = status.annotations.get(MESSAGE_POLICY, "File")
        if not text and policy == "FallbackToLogsOnError" and status.exit_code != 0 and status.log_path:
            return last_text(Path(status.log_path), LOG_BYTES, LOG_LINES)
        return text


def _reported(entry: PodEntry, container_id: str) -> str | None:
    """Return the message that an earlier kubelet reported of this container: its file is gone with its pod's folder."""
    status = entry.pod.get("status") or {}
    for known in [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]:
        for state in (known.get("state") or {}, known.get("lastState") or {}):
            ended = state.get("terminated") or {}
            if str(ended.get("containerID", "")).endswith(f"//{container_id}") and "message" in ended:
                return str(ended["message"])
    return None
