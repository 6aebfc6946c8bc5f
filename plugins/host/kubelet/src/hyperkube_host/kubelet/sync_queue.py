"""What the kubelet has to do: one work queue for the pods and for the node's own periodic tasks.

Source of the tasks: kubernetes ``pkg/kubelet/kubelet.go`` (syncLoopIteration).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from hyperkube.client.workqueue import WorkQueue


class Task(Enum):
    """A kind of work."""

    SYNC_POD = "sync pod"
    SHORTEN_GRACE = "shorten grace period"
    """A key of its own beside SYNC_POD: the sync of a pod that is stopping waits for the containers."""
    SYNC_NODE = "sync node"
    RELIST = "relist"
    HOUSEKEEPING = "housekeeping"
    RESYNC = "resync"
    EVICTION = "eviction"
    IMAGE_GC = "image garbage collection"
    LOG_ROTATION = "log rotation"
    UTIL_CHAINS = "iptables utility chains"


class Work(NamedTuple):
    """A key of the queue; `uid` is the pod's, empty for tasks of the node."""

    task: Task
    uid: str = ""


class SyncQueue:
    """The queue in the words of its users; all methods are thread-safe."""

    def __init__(self, queue: WorkQueue[Work]) -> None:
        self._queue = queue

    def add(self, task: Task) -> None:
        """Do a task of the node now."""
        self._queue.add(Work(task))

    def add_after(self, task: Task, seconds: float) -> None:
        """Do a task of the node after a delay."""
        self._queue.add_after(Work(task), seconds)

    def sync_pod(self, uid: str) -> None:
        """Sync a pod now."""
        self._queue.add(Work(Task.SYNC_POD, uid))

    def sync_pod_after(self, uid: str, seconds: float) -> None:
        """Sync a pod after a delay."""
        self._queue.add_after(Work(Task.SYNC_POD, uid), seconds)

    def shorten_grace(self, uid: str, seconds: float = 0.0) -> None:
        """Pass a shorter grace period on to the containers of a pod that is stopping, after a delay."""
        self._queue.add_after(Work(Task.SHORTEN_GRACE, uid), seconds)

    def forget_pod(self, uid: str) -> None:
        """Drop the delays and back-offs of a pod that is gone."""
        for task in (Task.SYNC_POD, Task.SHORTEN_GRACE):
            self._queue.cancel(Work(task, uid))
            self._queue.forget(Work(task, uid))
