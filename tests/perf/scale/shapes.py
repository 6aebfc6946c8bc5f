"""The shapes of load, after upstream's density and load tests: what is made, how fast, and what comes and goes.

Source of the sizes: kubernetes/perf-tests ``clusterloader2/testing/load`` (groups of 250, 30 and 5 pods, a quarter, a
quarter and a half of all).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scale.api import Api, Refused
from scale.hollow_node import EXIT_AFTER

BIG, MEDIUM, SMALL = 250, 30, 5
NODES_PER_NAMESPACE = 100
SHARES = {"Deployment": 0.8, "StatefulSet": 0.1, "Job": 0.1}
LABEL = "app"


@dataclass(frozen=True, slots=True)
class Group:
    """Pods that one object stands for."""

    kind: str
    namespace: str
    name: str
    size: int


def namespaces_of(nodes: int) -> list[str]:
    """Return the names of the namespaces that so many nodes are loaded in."""
    return [f"scale-{number}" for number in range(max(1, nodes // NODES_PER_NAMESPACE))]


def sizes(pods: int) -> list[int]:
    """Return the sizes of the groups that so many pods come in, big ones first; their sum is `pods`."""
    big, medium = pods // 4 // BIG, pods // 4 // MEDIUM
    left = pods - big * BIG - medium * MEDIUM
    small, rest = divmod(left, SMALL)
    return [BIG] * big + [MEDIUM] * medium + [SMALL] * small + ([rest] if rest else [])


def density(nodes: int, pods_per_node: int) -> list[Group]:
    """Return the groups of a full cluster: one daemon on each node, and deployments, stateful sets and jobs."""
    names = namespaces_of(nodes)
    groups = [Group("DaemonSet", names[0], "daemon", nodes)]
    left = nodes * (pods_per_node - 1)
    for place, namespace in enumerate(names):
        here = left // len(names) + (place < left % len(names))
        shares = {kind: int(here * share) for kind, share in SHARES.items()}
        shares["Deployment"] += here - sum(shares.values())
        for kind, pods in shares.items():
            counts = sizes(pods)
            groups += [Group(kind, namespace, f"{kind.lower()}-{number}", size) for number, size in enumerate(counts)]
    return groups


def pod_template(labels: dict[str, str], annotations: dict[str, str] | None = None) -> Any:
    """Return metadata and spec of a small pod."""
    container = {
        "name": "main",
        "image": "registry.k8s.io/pause:3.10",
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": "10m", "memory": "20Mi"}},
        "env": [{"name": "ENV_VAR", "value": "a" * 100}],
        "ports": [{"containerPort": 80}],
    }
    return {"metadata": {"labels": labels, "annotations": annotations or {}}, "spec": {"containers": [container]}}


_PATHS = {
    "Deployment": ("apps/v1", "deployments"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "DaemonSet": ("apps/v1", "daemonsets"),
    "Job": ("batch/v1", "jobs"),
}


def objects_of(group: Group) -> Iterator[tuple[str, str, Any]]:
    """Yield kind of request, path and body of what a group is made of: the service before the pods."""
    labels = {LABEL: group.name}
    version, plural = _PATHS[group.kind]
    if group.kind in {"Deployment", "StatefulSet"}:
        yield "POST services", f"/api/v1/namespaces/{group.namespace}/services", service(group.name, group.namespace)
    spec: Any = {"template": pod_template(labels)}
    if group.kind == "Job":
        spec |= {"parallelism": group.size, "completions": group.size}
        spec["template"]["spec"]["restartPolicy"] = "Never"
    else:
        spec["selector"] = {"matchLabels": labels}
    if group.kind in {"Deployment", "StatefulSet"}:
        spec["replicas"] = group.size
    if group.kind == "StatefulSet":
        spec |= {"serviceName": group.name, "podManagementPolicy": "Parallel"}
    body = {"kind": group.kind, "apiVersion": version, "metadata": {"name": group.name, "labels": labels}, "spec": spec}
    yield f"POST {plural}", f"/apis/{version}/namespaces/{group.namespace}/{plural}", body


def service(name: str, namespace: str) -> Any:
    """Return a service of the pods with that label."""
    spec = {"selector": {LABEL: name}, "ports": [{"name": "http", "port": 80, "targetPort": 80}]}
    return {"kind": "Service", "apiVersion": "v1", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


async def create_namespaces(api: Api, names: list[str]) -> None:
    """Create the namespaces, and wait until pods may be created there."""
    for name in names:
        await api.call("POST namespaces", "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    for name in names:
        while True:
            try:
                await api.call("GET serviceaccounts", "GET", f"/api/v1/namespaces/{name}/serviceaccounts/default")
                break
            except Refused:
                await asyncio.sleep(0.2)


async def create_groups(api: Api, groups: list[Group], pods_per_second: float) -> None:
    """Create the groups, so that they ask for so many pods a second, however long the requests take."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    for group in groups:
        for kind, path, body in objects_of(group):
            await api.bytes_of(kind, "POST", path, body)
        due += group.size / pods_per_second
        await asyncio.sleep(max(0.0, due - loop.time()))


class Churn:
    """Pods that are made and deleted at a rate, behind one service a namespace; `made` is told each pod's name first."""

    def __init__(self, api: Api, namespaces: list[str], rate: float, lifetime: float, made: Any) -> None:
        self._api = api
        self._namespaces = namespaces
        self._rate = rate
        self._alive: deque[tuple[str, str]] = deque()
        self._most = round(rate * lifetime)
        self._made = made
        self._running: set[asyncio.Task[None]] = set()
        self.errors = 0

    async def run(self, seconds: float) -> None:
        """Create, and delete the oldest, for so long; then delete what is left."""
        for namespace in self._namespaces:
            path = f"/api/v1/namespaces/{namespace}/services"
            await self._api.bytes_of("POST services", "POST", path, service("churn", namespace))
        loop = asyncio.get_running_loop()
        begin, count = loop.time(), 0
        while loop.time() < begin + seconds:
            self._begin(self._create(count))
            count += 1
            if len(self._alive) > self._most:
                self._begin(self._delete(*self._alive.popleft()))
            await asyncio.sleep(max(0.0, begin + count / self._rate - loop.time()))
        while self._alive:
            self._begin(self._delete(*self._alive.popleft()))
            await asyncio.sleep(1 / self._rate)
        await asyncio.gather(*self._running)

    def _begin(self, step: Any) -> None:
        task = asyncio.ensure_future(self._counting(step))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _counting(self, step: Any) -> None:
        try:
            await step
        except (Refused, OSError):
            self.errors += 1

    async def _create(self, number: int) -> None:
        namespace, name = self._namespaces[number % len(self._namespaces)], f"churn-{number}"
        body = pod_template({LABEL: "churn"}, {EXIT_AFTER: "3600"})
        body["metadata"]["name"] = name
        body["spec"]["terminationGracePeriodSeconds"] = 1
        self._made(namespace, name)
        await self._api.bytes_of("POST pods", "POST", f"/api/v1/namespaces/{namespace}/pods", body)
        self._alive.append((namespace, name))

    async def _delete(self, namespace: str, name: str) -> None:
        await self._api.bytes_of("DELETE pods", "DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}")
