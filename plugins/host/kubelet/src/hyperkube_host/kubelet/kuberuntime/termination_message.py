"""Termination messages of containers: what the runtime says, then their message file, or the end of their log.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container.go`` (convertToKubeContainerStatus,
getTerminationMessage).
"""

from __future__ import annotations

from pathlib import Path

from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.types.labels import TERMINATION_MESSAGE_POLICY
from hyperkube_host.kubelet.types.pod_status import reported_container_statuses

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.machinery.objects import uid_of

FILE_LIMIT = 4096
LOG_BYTES, LOG_LINES = 2048, 80


class TerminationMessages:
    """Reads the messages of ended containers, each once."""

    def __init__(self, directories: KubeletDirectories) -> None:
        self._directories = directories

    def read(self, entry: PodEntry, pod_status: PodStatus) -> dict[str, str]:
        """Return container id → message for the ended containers of a pod."""
        for status in pod_status.all():
            if status.state == ContainerState.EXITED and status.id not in entry.messages:
                reported = _reported(entry, status.id)
                entry.messages[status.id] = self._message(uid_of(entry.pod), status) if reported is None else reported
        return entry.messages

    def _message(self, uid: str, status: ContainerStatus) -> str:
        return ": ".join(filter(None, (status.message, self._own_message(uid, status))))

    def _own_message(self, uid: str, status: ContainerStatus) -> str:
        """Return what the container itself left."""
        path = self._directories.termination_message(uid, status.name, status.attempt)
        try:
            with path.open("rb") as source:
                text = source.read(FILE_LIMIT).decode(errors="replace")
        except OSError:
            text = ""
        policy = status.annotations.get(TERMINATION_MESSAGE_POLICY, "File")
        # One that could not even be started has no log.
        has_failed = status.exit_code != 0 and status.reason != "ContainerCannotRun"
        if not text and policy == "FallbackToLogsOnError" and has_failed and status.log_path:
            from hyperkube_host.kubelet.logs.log_reader import last_text

            return last_text(Path(status.log_path), LOG_BYTES, LOG_LINES)
        return text


def _reported(entry: PodEntry, container_id: str) -> str | None:
    """Return the message that an earlier kubelet reported: the file is removed with the folder of an ended pod."""
    status = entry.pod.get("status") or {}
    for known in reported_container_statuses(status):
        for state in (known.get("state") or {}, known.get("lastState") or {}):
            ended = state.get("terminated") or {}
            if str(ended.get("containerID", "")).endswith(f"//{container_id}") and "message" in ended:
                return str(ended["message"])
    return None
