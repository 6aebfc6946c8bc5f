"""Writes what a node says of its pods: statuses by one task, the latest of each pod; events by another.

As in a kubelet, a pod's start waits for neither. Sources: kubernetes ``pkg/kubelet/status/status_manager.go``
(syncBatch, syncPod: a pod is read, then its status patched, then it is deleted if it has ended); client-go
``tools/record/event.go`` (one after another, of at most a thousand that wait).
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Any

from scale import node_objects as objects
from scale.api import RETRY_SECONDS, STRATEGIC_MERGE, Api, Refused
from scale.samples import Samples

WRITTEN = "status written"
_GONE = {404, 409}
_MOST_EVENTS = 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be said of a pod: its status, if any, and then perhaps that it is gone."""

    pod: Any
    status: Any | None
    is_over: bool = False


class PodStatuses:
    """Writes statuses until cancelled; what is newer replaces what waits."""

    def __init__(self, api: Api, samples: Samples) -> None:
        self._api = api
        self._samples = samples
        self._wanted: dict[str, Wanted] = {}
        self._more = asyncio.Event()

    def say(self, pod: Any, status: Any | None, *, is_over: bool = False) -> None:
        """Have a status written, and the pod deleted after it if it is over."""
        self._wanted[pod["metadata"]["uid"]] = Wanted(pod, status, is_over)
        self._more.set()

    async def run(self) -> None:
        """Write them one after another."""
        while True:
            await self._more.wait()
            self._more.clear()
            while self._wanted:
                uid = next(iter(self._wanted))
                wanted = self._wanted.pop(uid)
                if not await self._is_said(uid, wanted):
                    self._wanted.setdefault(uid, wanted)
                    await asyncio.sleep(RETRY_SECONDS * (1 + random.random()))

    async def _is_said(self, uid: str, wanted: Wanted) -> bool:
        """Write one; tell whether it need not be tried again."""
        meta = wanted.pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        try:
            if wanted.status is not None:
                await self._api.bytes_of("GET pods", "GET", path)
                patch = {"metadata": {"uid": uid}, "status": wanted.status}
                await self._api.bytes_of("PATCH pods/status", "PATCH", f"{path}/status", patch, STRATEGIC_MERGE)
                if wanted.status["phase"] == "Running":
                    self._samples.mark(WRITTEN, uid)
            if wanted.is_over:
                options = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}}
                await self._api.bytes_of("DELETE pods", "DELETE", path, options)
        except Refused as refused:
            return refused.status in _GONE
        except ConnectionError:
            return False
        return True


class PodEvents:
    """Sends events until cancelled, each once; those that find a thousand before them are dropped."""

    def __init__(self, api: Api, node_name: str) -> None:
        self._api = api
        self._node_name = node_name
        self._waiting: asyncio.Queue[Any] = asyncio.Queue(_MOST_EVENTS)

    def say(self, pod: Any, reason: str) -> None:
        """Have an event sent."""
        if not self._waiting.full():
            self._waiting.put_nowait(objects.pod_event(pod, reason, self._node_name))

    async def run(self) -> None:
        """Send them one after another."""
        while True:
            event = await self._waiting.get()
            path = f"/api/v1/namespaces/{event['metadata']['namespace']}/events"
            try:
                await self._api.bytes_of("POST events", "POST", path, event)
            except (Refused, ConnectionError):
                continue  # counted by the client; client-go tries again only when there was no answer
