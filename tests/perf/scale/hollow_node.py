"""A node that runs nothing, and says to the API what a kubelet says.

Registration, a lease every ten seconds, the status when it changes and every five minutes; watches of its pods, of
itself, of services, runtime classes and CSI drivers, and of the root certificates of each namespace that it has pods
of; for each pod a token, its steps as statuses (read, then patched) and events, and its final deletion.

Sources: kubernetes ``pkg/kubelet/kubelet_node_status.go``, ``status/status_manager.go`` (syncPod),
``util/manager/watch_based_manager.go``; component-helpers ``apimachinery/lease/controller.go``. Kubelets send protobuf
over one connection each; these send JSON, and have a connection for each watch.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import aiohttp
import orjson

from scale import node_objects as objects
from scale.api import STRATEGIC_MERGE, Api, Refused

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
    """How long containers take to start and stop, and within how long the nodes register, in seconds; what they watch."""

    start: float = 0.2
    stop: float = 0.2
    registration: float = RENEW_SECONDS
    watches: Watches = Watches.ALL


class HollowNode:
    """One node; `run` never returns."""

    def __init__(self, name: str, api: Api, address: str, pace: Pace) -> None:
        self.name, self.address = name, address
        self._api = api
        self._pace = pace
        self._pods: dict[str, asyncio.Task[None]] = {}
        self._ending: set[str] = set()
        self._namespaces: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._addresses = 0

    async def run(self) -> None:
        """Register and behave as a kubelet until cancelled."""
        await asyncio.sleep(random.random() * self._pace.registration)
        node = await self._patiently(
            lambda: self._api.call("POST nodes", "POST", "/api/v1/nodes", objects.node(self.name, self.address))
        )
        loops = [self._renew(node["metadata"]["uid"]), self._report()]
        if self._pace.watches is not Watches.NONE:
            loops.append(self._follow_pods())
        if self._pace.watches is Watches.ALL:
            own = {"fieldSelector": f"metadata.name={self.name}"}
            loops += [self._drain("/api/v1/nodes", own), *(self._drain(path) for path in CLUSTER_WATCHES)]
        await asyncio.gather(*loops)

    async def _patiently(self, call: Any) -> Any:
        while True:
            try:
                return await call()
            except (Refused, aiohttp.ClientError):
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
            except aiohttp.ClientError:
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

    async def _drain(self, path: str, parameters: dict[str, str] | None = None) -> None:
        async for _ in self._api.watch(path, parameters):
            pass

    async def _follow_pods(self) -> None:
        async for line in self._api.watch("/api/v1/pods", {"fieldSelector": f"spec.nodeName={self.name}"}):
            event = orjson.loads(line)
            pod, kind = event["object"], event["type"]
            if kind == "BOOKMARK":
                continue
            uid = pod["metadata"]["uid"]
            if kind == "DELETED":
                task = self._pods.pop(uid, None)
                if task and uid not in self._ending:  # the end of its own making reads the answer yet
                    task.cancel()
                self._ending.discard(uid)
            elif pod["metadata"].get("deletionTimestamp"):
                if uid not in self._ending:
                    self._ending.add(uid)
                    if task := self._pods.pop(uid, None):
                        task.cancel()
                    self._pods[uid] = asyncio.create_task(self._retrying(self._end, pod))
            elif uid not in self._pods:
                self._pods[uid] = asyncio.create_task(self._retrying(self._start, pod))

    async def _retrying(self, step: Callable[[Any], Awaitable[None]], pod: Any) -> None:
        """Take a step of a pod until it succeeds, as the kubelet's pod workers do, or the pod is gone."""
        while True:
            try:
                return await step(pod)
            except Refused as refused:
                if refused.status in _GONE:
                    return None
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(RETRY_SECONDS * (1 + random.random()))

    async def _start(self, pod: Any) -> None:
        namespace = pod["metadata"]["namespace"]
        if namespace not in self._namespaces:
            self._namespaces.add(namespace)
            if self._pace.watches is Watches.ALL:
                path = f"/api/v1/namespaces/{namespace}/configmaps"
                watching = self._drain(path, {"fieldSelector": "metadata.name=kube-root-ca.crt"})
                self._tasks.add(asyncio.create_task(watching))
        if (pod.get("status") or {}).get("phase", "Pending") != "Pending":
            return
        await self._set_status(pod, objects.creating_status(pod, self.address))
        account = pod["spec"].get("serviceAccountName", "default")
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        await self._api.bytes_of("POST serviceaccounts/token", "POST", path, objects.token_request(pod))
        await asyncio.sleep(self._pace.start)
        for reason in ("Pulled", "Created", "Started"):
            await self._event(pod, reason)
        self._addresses += 1
        pod_ip = objects.pod_address(self.address, self._addresses)
        await self._set_status(pod, objects.running_status(pod, self.address, pod_ip))
        exit_after = (pod["metadata"].get("annotations") or {}).get(EXIT_AFTER)
        if exit_after is not None:
            await asyncio.sleep(float(exit_after))
            await self._set_status(pod, objects.ended_status(pod, self.address, pod_ip, "Succeeded"))

    async def _end(self, pod: Any) -> None:
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        status = pod.get("status") or {}
        if status.get("phase") == "Running":
            await self._event(pod, "Killing")
            await asyncio.sleep(self._pace.stop)
            pod_ip = status.get("podIP", "")
            await self._set_status(pod, objects.ended_status(pod, self.address, pod_ip, "Succeeded"))
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
        await self._api.bytes_of("DELETE pods", "DELETE", path, options)

    async def _set_status(self, pod: Any, status: Any) -> None:
        """Read the pod, then patch what differs, as the kubelet's status manager does."""
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        await self._api.bytes_of("GET pods", "GET", path)
        patch = {"metadata": {"uid": meta["uid"]}, "status": status}
        await self._api.bytes_of("PATCH pods/status", "PATCH", f"{path}/status", patch, STRATEGIC_MERGE)

    async def _event(self, pod: Any, reason: str) -> None:
        namespace = pod["metadata"]["namespace"]
        event = objects.pod_event(pod, reason, self.name)
        await self._api.bytes_of("POST events", "POST", f"/api/v1/namespaces/{namespace}/events", event)
