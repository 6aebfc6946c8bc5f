"""How much memory the scheduler takes as a process of its own, with every node and pod of a large cluster in its caches.

Run by hand: ``.venv/bin/python tests/perf/bench_scheduler_memory.py [NODES PODS]``. The API is played by this process,
which makes a page of objects when it is asked for one and keeps nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import orjson
from bench_scheduler import a_node
from hyperkube_host.scheduler.options import SchedulerOptions
from hyperkube_host.scheduler.scheduler import Scheduler

from hyperkube.client.client import ObjectList
from hyperkube.kinds.resources import NODES, PODS

TEMPLATES = 50
MOMENT = "2026-01-01T00:00:00Z"
CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


def a_pod(index, nodes):
    """Return a running pod as an API server and a kubelet leave it, service account token and all."""
    kind, token = index % TEMPLATES, f"kube-api-access-{index:05d}"
    mount = {"name": token, "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    container = {
        "name": "c", "image": "registry/app:1", "imagePullPolicy": "IfNotPresent", "volumeMounts": [mount],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}, "terminationMessagePath": "/dev/termination-log",
    }  # fmt: skip
    tolerations = [
        {"key": f"node.kubernetes.io/{word}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for word in ("not-ready", "unreachable")
    ]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"app{kind}", "uid": f"u{kind}", "controller": True}
    meta = {
        "name": f"p{index}", "namespace": "default", "uid": f"uid-{index}", "resourceVersion": str(index + 1),
        "creationTimestamp": MOMENT, "labels": {"app": f"app{kind}"}, "ownerReferences": [owner],
    }  # fmt: skip
    spec = {
        "containers": [container], "nodeName": f"n{index % nodes}", "restartPolicy": "Always", "priority": 0,
        "dnsPolicy": "ClusterFirst", "serviceAccountName": "default", "schedulerName": "default-scheduler",
        "tolerations": tolerations, "volumes": [{"name": token, "projected": {"sources": sources}}],
    }  # fmt: skip
    status = {
        "phase": "Running", "podIP": f"10.{index >> 16}.{index >> 8 & 255}.{index & 255}", "startTime": MOMENT,
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": MOMENT} for kind in CONDITIONS],
        "containerStatuses": [{"name": "c", "ready": True, "restartCount": 0, "containerID": f"x://{index}"}],
    }  # fmt: skip
    return {"metadata": meta, "spec": spec, "status": status}


class Quiet:
    """A watch in which nothing happens."""

    def __init__(self):
        self._closed = threading.Event()

    def __iter__(self):
        self._closed.wait()
        return iter(())

    def close(self):
        self._closed.set()


class Cluster:
    """As much of a client as the informers use."""

    def __init__(self, nodes, pods):
        self._makers = {NODES: (nodes, a_node), PODS: (pods, lambda index: a_pod(index, nodes))}

    def list(self, resource, _namespace="", *, limit=0, continue_token="", **_):
        count, make = self._makers.get(resource, (0, None))
        begin = int(continue_token or 0)
        end = min(count, begin + (limit or count))
        items = orjson.loads(orjson.dumps([make(index) for index in range(begin, end)]))
        return ObjectList(items, str(count + 1), str(end) if end < count else "")

    def watch(self, *_, **__):
        return Quiet()


def resident_megabytes():
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def main(nodes=5000, pods=50000):
    scheduler = Scheduler(client=Cluster(nodes, pods), options=SchedulerOptions.in_process({}))
    empty = resident_megabytes()
    scheduler.start()
    while not scheduler.ready():
        time.sleep(0.1)
    scheduler._cache.table()
    full = resident_megabytes()
    known = scheduler._cache.sizes()
    print(
        f"memory: {known['nodes']} nodes, {known['pods']} pods: {full:,.0f} MB, {full / empty:.1f} times an empty one's"
    )
    scheduler.close()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3]))
