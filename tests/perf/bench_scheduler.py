"""How fast the scheduler decides, and how fast pods are bound through an API server in the same process.

Run by hand: ``.venv/bin/python tests/perf/bench_scheduler.py [algorithm] [end-to-end NODES PODS]``. Read the figures as ratios:
everything shares this machine.
"""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from contextlib import ExitStack
from typing import NamedTuple

from hyperkube_testing.scheduling.tables import node

from hyperkube.kinds.resources import NODES, PODS

ZONES = 5


def template(index):
    """Return a pod's spec, one of many."""
    requests = {"cpu": f"{50 + 10 * (index % 7)}m", "memory": f"{64 + 16 * (index % 5)}Mi"}
    spec = {"containers": [{"name": "c", "image": "registry/app:1", "resources": {"requests": requests}}]}
    if index % 5 == 1:
        spec["nodeSelector"] = {"topology.kubernetes.io/zone": f"z{index % ZONES}"}
    if index % 5 == 2:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    return spec


def a_node(index):
    labels = {"kubernetes.io/hostname": f"n{index}", "topology.kubernetes.io/zone": f"z{index % ZONES}"}
    taints = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}] if index % 20 == 0 else []
    return node(f"n{index}", labels=labels, taints=taints, cpu="32", memory="256Gi")


def mixed(pods, templates):
    """Return pods of several templates in a random order."""
    chance = random.Random(1)
    waiting = []
    for index in range(pods):
        kind = chance.randrange(templates)
        meta = {"name": f"p{index}", "namespace": "default", "uid": str(index), "labels": {"app": f"app{kind}"}}
        waiting.append({"metadata": meta, "spec": template(kind)})
    return waiting


def algorithm(nodes=5000, pods=10000, templates=50):
    """Decide and assume, nothing else, with the default profile; return decisions per second of CPU."""
    from hyperkube_host.scheduler.cache.cache import SchedulerCache
    from hyperkube_host.scheduler.cache.pod_info import PreparedPod, Templates
    from hyperkube_host.scheduler.config.sources import Source
    from hyperkube_host.scheduler.explain.explanations import Explanations
    from hyperkube_host.scheduler.options import SchedulerOptions
    from hyperkube_host.scheduler.profile.profiles import Profiles

    from hyperkube.client.fake import FakeClient
    from hyperkube.client.informer import InformerFactory
    from hyperkube.machinery.clock import SystemClock

    client, clock = FakeClient(), SystemClock()
    informers = InformerFactory(client, clock)
    informers.start()
    profiles = Profiles(
        Source(SchedulerOptions.in_process({}).configuration, client).read(), client, informers, clock, {}, print
    )
    running = next(iter(profiles.loaded().values()))
    state, known, explanations = SchedulerCache(), Templates(), Explanations()
    table = state.table()
    for index in range(nodes):
        state.put_node(a_node(index))

    def schedule(pod):
        info = PreparedPod.of(pod, table, known)
        decision = running.algorithm.schedule(info, table)
        state.assume(info, decision.node)
        explanations.record(info.key, decision)

    schedule({"metadata": {"name": "warm", "namespace": "default", "uid": "warm"}, "spec": template(0)})
    waiting = mixed(pods, templates)
    start, cpu = time.perf_counter(), time.process_time()
    for pod in waiting:
        schedule(pod)
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    informers.stop()
    rates = f"{pods / seconds:,.0f} pods/s, {pods / used:,.0f} per second of CPU"
    print(f"algorithm: {nodes} nodes, {pods} pods, {templates} templates: {rates}")
    return pods / used


def plain_loop(nodes=5000, pods=200):
    """The same for one node after the other, with a few of the same rules, as one would write it first."""
    from hyperkube.kinds.pods import pod_requests

    cluster = [(each, {"cpu": 0, "memory": 0, "pods": 0}) for each in map(a_node, range(nodes))]
    sizes = [(32000, 256 << 30, 110)] * nodes
    chance = random.Random(1)
    start, cpu = time.perf_counter(), time.process_time()
    for pod in mixed(pods, 50):
        wanted = pod_requests(pod)
        milli, size = wanted["cpu"].milli_value(), wanted["memory"].value()
        selector = pod["spec"].get("nodeSelector") or {}
        tolerated = {row["key"] for row in pod["spec"].get("tolerations") or ()}
        scored = []
        for (each, used), (cpus, memory, most) in zip(cluster, sizes, strict=True):
            if any(taint["key"] not in tolerated for taint in each["spec"].get("taints") or ()):
                continue
            if any(each["metadata"]["labels"].get(key) != value for key, value in selector.items()):
                continue
            cpu_after, memory_after = used["cpu"] + milli, used["memory"] + size
            if cpu_after > cpus or memory_after > memory or used["pods"] + 1 > most:
                continue
            free = ((cpus - cpu_after) * 100 // cpus + (memory - memory_after) * 100 // memory) // 2
            balance = int((1 - abs(cpu_after / cpus - memory_after / memory) / 2) * 100)
            scored.append((free + balance, used))
        best = max(total for total, _ in scored)
        _, chosen = chance.choice([row for row in scored if row[0] == best])
        chosen["cpu"] += milli
        chosen["memory"] += size
        chosen["pods"] += 1
    seconds, used = time.perf_counter() - start, time.process_time() - cpu
    print(f"plain loop: {nodes} nodes: {pods / seconds:,.0f} pods/s, {pods / used:,.0f} per second of CPU")
    return pods / used


class Bound(NamedTuple):
    """Pods per second: created with no scheduler, created while it works, bound; and CPU of each bound one, in us."""

    alone: float
    created: float
    bound: float
    cpu: float


def end_to_end(nodes, pods, clients=4):
    """Create pods by a few threads, count them bound as an outside watcher sees it; return the `Bound`."""
    alone, _, _ = _created_and_bound(nodes, pods, clients, scheduler=None)
    found = Bound(alone, *_created_and_bound(nodes, pods, clients, scheduler={}))
    print(
        f"end to end: {nodes} nodes, {pods} pods: created {found.created:,.0f}/s ({found.alone:,.0f} without a scheduler),"
        f" created and bound {found.bound:,.0f}/s, {found.cpu:,.0f} us of CPU per pod"
    )
    return found


def _created_and_bound(nodes, pods, clients, scheduler):
    """Return pods created per second, pods bound per second (0 without a scheduler) and CPU of each in us."""
    from hyperkube_testing.cluster.cluster import ControlPlane

    from hyperkube.command.lifecycle import start_up

    quick = {"disable-admission-plugins": ("ServiceAccount",)}
    with ExitStack() as stack:
        stack.callback(gc.unfreeze)
        with start_up():  # as the servers do, which are processes of their own
            cluster = stack.enter_context(ControlPlane(controller_manager=None, scheduler=scheduler, apiserver=quick))
        client = cluster.client
        for index in range(nodes):
            made = client.create(NODES, a_node(index))
            if made["spec"].get("taints"):
                client.patch(NODES, made["metadata"]["name"], {"spec": {"taints": None}})
        bound, done = set(), threading.Event()

        def watch():
            for event in client.watch(PODS):
                if event.object.get("spec", {}).get("nodeName"):
                    bound.add(event.object["metadata"]["name"])
                    if len(bound) == pods:
                        done.set()
                        return

        threading.Thread(target=watch, daemon=True).start()
        warm = client.create(PODS, {"metadata": {"name": "warm", "namespace": "default"}, "spec": template(0)})
        if scheduler is not None:
            cluster.wait(lambda: client.get(PODS, warm["metadata"]["name"], "default")["spec"].get("nodeName"))
        bound.clear()
        start, cpu = time.perf_counter(), time.process_time()

        def create(share):
            for index in range(share, pods, clients):
                meta = {"name": f"p{index}", "namespace": "default", "labels": {"app": "x"}}
                client.create(PODS, {"metadata": meta, "spec": template(0)})

        makers = [threading.Thread(target=create, args=(share,)) for share in range(clients)]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.join()
        created = pods / (time.perf_counter() - start)
        if scheduler is not None:
            done.wait(120)
        rate = len(bound) / (time.perf_counter() - start)
        return created, rate, (time.process_time() - cpu) / pods * 1e6


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] == "algorithm":
        plain = plain_loop()
        for templates in (50, 1):
            print(f"ratio: {algorithm(templates=templates) / plain:,.0f}")
    if len(sys.argv) < 2 or sys.argv[1] == "end-to-end":
        wanted = [int(word) for word in sys.argv[2:4]] or [100, 1000]
        end_to_end(*wanted)
