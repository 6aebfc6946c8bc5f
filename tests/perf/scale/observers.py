"""Service levels as clients see them: a watcher of pods and one of endpoints, a prober, an operator, other informers.

Source of what is measured: kubernetes/community ``sig-scalability/slos`` (pod startup latency, API call latency,
network programming latency). Moments are those at which an event arrived here, not what objects say of themselves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson

from scale.api import MERGE, Api, Refused
from scale.samples import Samples

POD_START = "SLI pod start"
SCHEDULED = "SLI pod start: created to bound"
CREATED, BOUND, RUNNING = "created", "bound", "running"
ENDPOINT = "SLI endpoint programming"
GET_POD, LIST_NAMESPACE, LIST_CLUSTER = "GET pods", "LIST pods of a namespace", "LIST pods of the cluster"
INFORMERS = (
    "/api/v1/nodes", "/api/v1/services", "/api/v1/endpoints", "/api/v1/configmaps", "/api/v1/secrets", "/api/v1/events",
    "/apis/apps/v1/deployments", "/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets",
    "/apis/batch/v1/jobs", "/apis/coordination.k8s.io/v1/leases",
)  # fmt: skip
_CUSTOM = "/apis/scale.example.com/v1"


class PodWatcher:
    """Follows all pods and all endpoint slices."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self._sent: dict[tuple[str, str], float] = {}
        self._begun: dict[str, float] = {}
        self._bound: set[str] = set()
        self._ready: dict[tuple[str, str], float] = {}
        self.running: set[str] = set()
        self.ended: set[str] = set()
        self.keys: dict[str, tuple[str, str]] = {}

    def sent(self, namespace: str, name: str) -> None:
        """Take down that the request which creates a pod begins now."""
        self._sent[namespace, name] = time.monotonic()

    def pod_event(self, kind: str, pod: Any, moment: float) -> None:
        """Take an event of the watch of pods."""
        meta, status = pod["metadata"], pod.get("status") or {}
        uid, key = meta["uid"], (meta["namespace"], meta["name"])
        if kind == "DELETED":
            for known in (self.running, self.ended, self._bound):
                known.discard(uid)
            self._begun.pop(uid, None)
            self.keys.pop(uid, None)
            self._ready.pop(key, None)
            return
        self.keys[uid] = key
        if uid not in self._begun:
            self._begun[uid] = self._sent.pop(key, moment)
            self._samples.mark(CREATED, uid, self._begun[uid])
        begun = self._begun[uid]
        if pod["spec"].get("nodeName") and uid not in self._bound:
            self._bound.add(uid)
            self._samples.add(SCHEDULED, moment - begun, moment)
            self._samples.mark(BOUND, uid, moment)
        phase = status.get("phase")
        if phase == "Running" and uid not in self.running:
            self.running.add(uid)
            self._samples.add(POD_START, moment - begun, moment)
            self._samples.mark(RUNNING, uid, moment)
            self._ready[key] = moment
        if phase in {"Succeeded", "Failed"}:
            self.running.discard(uid)
            self.ended.add(uid)

    def slice_event(self, kind: str, endpoint_slice: Any, moment: float) -> None:
        """Take an event of the watch of endpoint slices: a pod that was seen ready and stands here is programmed."""
        if kind == "DELETED":
            return
        namespace = endpoint_slice["metadata"]["namespace"]
        for endpoint in endpoint_slice.get("endpoints") or ():
            target = (namespace, (endpoint.get("targetRef") or {}).get("name", ""))
            if (endpoint.get("conditions") or {}).get("ready") and target in self._ready:
                self._samples.add(ENDPOINT, moment - self._ready.pop(target), moment)

    async def follow(self, api: Api, path: str, take: Callable[[str, Any, float], None]) -> None:
        """Give each event of a watch to `take`, for ever."""

        def take_line(line: bytes) -> None:
            moment = time.monotonic()
            event = orjson.loads(line)
            if event["type"] != "BOOKMARK":
                take(event["type"], event["object"], moment)

        await api.watch(path, take=take_line)

    async def run(self, api: Api) -> None:
        """Follow both, for ever."""
        await asyncio.gather(
            self.follow(api, "/api/v1/pods", self.pod_event),
            self.follow(api, "/apis/discovery.k8s.io/v1/endpointslices", self.slice_event),
        )


async def probe(api: Api, watcher: PodWatcher, namespaces: list[str]) -> None:
    """Read a pod each second, a namespace's pods each ten, all pods each thirty."""
    count = 0
    while True:
        with suppress(Refused, ConnectionError):  # counted by the client
            if watcher.keys:
                namespace, name = next(reversed(watcher.keys.values()))
                await api.bytes_of(GET_POD, "GET", f"/api/v1/namespaces/{namespace}/pods/{name}")
            if count % 10 == 1:
                path = f"/api/v1/namespaces/{namespaces[count // 10 % len(namespaces)]}/pods"
                await api.bytes_of(LIST_NAMESPACE, "GET", path)
            if count % 30 == 5:
                await api.bytes_of(LIST_CLUSTER, "GET", "/api/v1/pods")
        count += 1
        await asyncio.sleep(1.0)


async def operate(api: Api, namespace: str, count: int = 20) -> None:
    """Be an operator: custom resources of its own kind, a watch of them, a list each ten seconds, a status each second."""
    definition = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": "loads.scale.example.com"},
        "spec": {
            "group": "scale.example.com",
            "scope": "Namespaced",
            "names": {"plural": "loads", "singular": "load", "kind": "Load", "listKind": "LoadList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    },
                }
            ],
        },
    }
    path = f"{_CUSTOM}/namespaces/{namespace}/loads"
    await api.bytes_of("POST crds", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    while True:
        try:
            await api.bytes_of("LIST loads", "GET", path)
            break
        except Refused:
            await asyncio.sleep(0.2)
    for number in range(count):
        body = {"kind": "Load", "apiVersion": "scale.example.com/v1", "metadata": {"name": f"load-{number}"}}
        await api.bytes_of("POST loads", "POST", path, {**body, "spec": {"number": number}})
    watching = asyncio.create_task(api.watch(f"{_CUSTOM}/loads"))
    turn = 0
    try:
        while True:
            with suppress(Refused, ConnectionError):  # counted by the client
                patch = {"status": {"turn": turn}}
                await api.bytes_of("PATCH loads/status", "PATCH", f"{path}/load-{turn % count}/status", patch, MERGE)
                if turn % 10 == 0:
                    await api.bytes_of("LIST loads", "GET", path)
            turn += 1
            await asyncio.sleep(1.0)
    finally:
        watching.cancel()
