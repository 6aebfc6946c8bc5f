"""A node that runs nothing, and says to the API what a kubelet says.

Registration, a lease every ten seconds, the status when it changes and every five minutes; watches of its pods, of
itself, of services, runtime classes and CSI drivers, and of the root certificates of each namespace that it has pods
of; for each pod a token, its steps as statuses and events (see `pod_status`), and its final deletion.

Sources: kubernetes ``pkg/kubelet/kubelet_node_status.go``, ``util/manager/watch_based_manager.go``; component-helpers ``apimachinery/lease/controller.go``. Kubelets send protobuf
over one connection each; these send JSON, and watch over one of HTTP/2, or one for each watch if they are told so.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import orjson

from scale import node_objects as objects
from scale.api import STRATEGIC_MERGE, Api, Refused
from scale.pod_status import PodEvents, PodStatuses

LEASE_SECONDS = 40
RENEW_SECONDS = LEASE_SECONDS / 4
REPORT_SECONDS = 300.0
JITTER = 0.04
RETRY_SECONDS = 1.0
_GONE = {404, 409}
CLUSTER_WATCHES = (
    "/api/v1/services",
    "/apis/node.k8s.io/v1/runtimeclasses",
    "/apis/storage.k8s.io/v1/csidrivers",
)
SEEN, STARTED = "seen by its node", "container started"
EXIT_AFTER = "scale/exit-after"
"""The annotation of a pod whose container ends, with the seconds after its start."""


class Watches(Enum):
    """What a node watches."""

    ALL = "all"
    PODS = "pods"
    NONE = "none"
    """It is idle: a lease and a status over one connection, nothing else."""


@dataclass(frozen=True)
class Pace:
    """How long containers take to start and stop, and within how long the nodes register, in seconds; what they watch.

    With `http1` each watch is a connection, else all of a node share one of HTTP/2.
    """

    start: float = 0.2
    stop: float = 0.2
    registration: float = RENEW_SECONDS
    watches: Watches = Watches.ALL
    http1: bool = False


class HollowNode:
    """One node; `run` never returns."""

    def __init__(self, name: str, api: Api, address: str, pace: Pace) -> None:
        self.name, self.address = name, address
        self._api = api
        self._pace = pace
        self._pods: dict[str, asyncio.Task[None]] = {}
        self._ending: set[str] = set()
        self._namespaces: dict[str, tuple[set[str], asyncio.Task[None]]] = {}
        self._addresses = 0
        self._statuses = PodStatuses(api, api.samples)
        self._events = PodEvents(api, name)

    async def run(self) -> None:
        """Register and behave as a kubelet until cancelled."""
        await asyncio.sleep(random.random() * self._pace.registration)
        node = await self._patiently(
            lambda: self._api.call("POST nodes", "POST", "/api/v1/nodes", objects.node(self.name, self.address))
        )
        loops = [self._renew(node["metadata"]["uid"]), self._report()]
        if self._pace.watches is not Watches.NONE:
            path, own_pods = "/api/v1/pods", {"fieldSelector": f"spec.nodeName={self.name}"}
            loops += [self._api.watch(path, own_pods, self._pod_event), self._statuses.run(), self._events.run()]
        if self._pace.watches is Watches.ALL:
            own = {"fieldSelector": f"metadata.name={self.name}"}
            loops += [self._api.watch("/api/v1/nodes", own), *(self._api.watch(path) for path in CLUSTER_WATCHES)]
        await asyncio.gather(*loops)

    async def _patiently(self, call: Any) -> Any:
        while True:
            try:
                return await call()
            except (Refused, ConnectionError):
                await asyncio.sleep(1.0 + random.random())

    async def _renew(self, uid: str) -> None:
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        lease = objects.lease(self.name, uid, LEASE_SECONDS)
        lease = await self._patiently(lambda: self._api.call("POST leases", "POST", path, lease))
        while True:
            await asyncio.sleep(RENEW_SECONDS * (1 + JITTER * random.random()))
            lease["spec"]["renewTime"] = objects.micro_now()
            try:
                lease = await self._api.call("PUT leases", "PUT", f"{path}/{self.name}", lease)
            except Refused:
                lease = await self._patiently(lambda: self._api.call("GET leases", "GET", f"{path}/{self.name}"))
            except ConnectionError:
                continue

    async def _report(self) -> None:
        """Write the status: once the node's network is ready, and then every five minutes."""
        while True:
            patch = {"status": {"conditions": objects.node_conditions()}}
            await self._patiently(
                lambda patch=patch: self._api.bytes_of(
                    "PATCH nodes/status", "PATCH", f"/api/v1/nodes/{self.name}/status", patch, STRATEGIC_MERGE
                )
            )
            await asyncio.sleep(REPORT_SECONDS * (1 + 0.5 * random.random()))

    def _pod_event(self, line: bytes) -> None:
        event = orjson.loads(line)
        pod, kind = event["object"], event["type"]
        if kind == "BOOKMARK":
            return
        uid = pod["metadata"]["uid"]
        if kind == "DELETED":
            if task := self._pods.pop(uid, None):
                task.cancel()
            self._ending.discard(uid)
            self._leave(pod["metadata"]["namespace"], uid)
        elif pod["metadata"].get("deletionTimestamp"):
            if uid not in self._ending:
                self._ending.add(uid)
                if task := self._pods.pop(uid, None):
                    task.cancel()
                self._pods[uid] = asyncio.create_task(self._end(pod))
        elif uid not in self._pods:
            self._api.samples.mark(SEEN, uid)
            self._pods[uid] = asyncio.create_task(self._retrying(self._start, pod))

    async def _retrying(self, step: Callable[[Any], Awaitable[None]], pod: Any) -> None:
        """Take a step of a pod until it succeeds, as the kubelet's pod workers do, or the pod is gone."""
        while True:
            try:
                return await step(pod)
            except Refused as refused:
                if refused.status in _GONE:
                    return None
            except ConnectionError:
                pass
            await asyncio.sleep(RETRY_SECONDS * (1 + random.random()))

    async def _start(self, pod: Any) -> None:
        namespace = pod["metadata"]["namespace"]
        if self._pace.watches is Watches.ALL:
            if namespace not in self._namespaces:
                path = f"/api/v1/namespaces/{namespace}/configmaps"
                watching = self._api.watch(path, {"fieldSelector": "metadata.name=kube-root-ca.crt"})
                self._namespaces[namespace] = set(), asyncio.create_task(watching)
            self._namespaces[namespace][0].add(pod["metadata"]["uid"])
        if (pod.get("status") or {}).get("phase", "Pending") != "Pending":
            return
        self._statuses.say(pod, objects.creating_status(pod, self.address))
        account = pod["spec"].get("serviceAccountName", "default")
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        await self._api.bytes_of("POST serviceaccounts/token", "POST", path, objects.token_request(pod))
        await asyncio.sleep(self._pace.start)
        for reason in ("Pulled", "Created", "Started"):
            self._events.say(pod, reason)
        self._addresses += 1
        pod_ip = objects.pod_address(self.address, self._addresses)
        self._api.samples.mark(STARTED, pod["metadata"]["uid"])
        self._statuses.say(pod, objects.running_status(pod, self.address, pod_ip))
        exit_after = (pod["metadata"].get("annotations") or {}).get(EXIT_AFTER)
        if exit_after is not None:
            await asyncio.sleep(float(exit_after))
            self._statuses.say(pod, objects.ended_status(pod, self.address, pod_ip, "Succeeded"))

    def _leave(self, namespace: str, uid: str) -> None:
        """End the watch of a namespace's authority with its last pod here: the node may not watch it any more."""
        if namespace not in self._namespaces:
            return
        pods, watching = self._namespaces[namespace]
        pods.discard(uid)
        if not pods:
            watching.cancel()
            del self._namespaces[namespace]

    async def _end(self, pod: Any) -> None:
        status = pod.get("status") or {}
        if status.get("phase") != "Running":
            self._statuses.say(pod, None, is_over=True)
            return
        self._events.say(pod, "Killing")
        await asyncio.sleep(self._pace.stop)
        ended = objects.ended_status(pod, self.address, status.get("podIP", ""), "Succeeded")
        self._statuses.say(pod, ended, is_over=True)
