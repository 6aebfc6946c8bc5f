"""Pods that have to go: which, why, and what they are told."""

import pytest
from hyperkube_host.kubelet.eviction.eviction_manager import EvictionManager, EvictionOptions, EvictionServices
from hyperkube_host.kubelet.eviction.ranking import rank
from hyperkube_host.kubelet.thresholds import Amount, Threshold

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.times import format_time

GI = 1 << 30
MEMORY = Threshold("memory.available", Amount(GI))
DISK = Threshold("nodefs.available", Amount(GI))


def pod(name, *, memory="", priority=0, storage="", limit="", volumes=(), critical=False, tolerates=False):
    resources = {}
    if memory or storage:
        resources["requests"] = {k: v for k, v in (("memory", memory), ("ephemeral-storage", storage)) if v}
    if limit:
        resources["limits"] = {"ephemeral-storage": limit}
    spec = {"priority": priority, "containers": [{"name": "c", "resources": resources}], "volumes": list(volumes)}
    if critical:
        spec["priority"] = 2_000_000_000
    if tolerates:
        spec["tolerations"] = [{"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}]
    return {"metadata": {"name": name, "namespace": "d", "uid": name}, "spec": spec}


def use(name, *, memory=0, root=0, logs=0, volumes=None, ephemeral=0):
    rows = [{"name": volume, "usedBytes": used} for volume, used in (volumes or {}).items()]
    container = {
        "name": "c",
        "memory": {"workingSetBytes": memory},
        "rootfs": {"usedBytes": root},
        "logs": {"usedBytes": logs},
    }
    return {
        "podRef": {"name": name, "namespace": "d", "uid": name},
        "containers": [container],
        "memory": {"workingSetBytes": memory},
        "volume": rows,
        "ephemeral-storage": {"usedBytes": ephemeral or root + logs + sum((volumes or {}).values())},
    }


class Node:
    """A node whose figures a test sets."""

    def __init__(self, *thresholds, pods=(), uses=(), **options):
        self.clock = FakeClock()
        self.pods, self.uses = list(pods), list(uses)
        self.memory, self.disk = 8 * GI, 8 * GI
        self.evicted, self.events, self.reclaims = [], [], []
        self.reclaimed = None
        self.gone = set()
        self.manager = EvictionManager(
            EvictionOptions(thresholds=thresholds, **options),
            EvictionServices(
                summary=self.summary,
                node_summary=self.summary,
                active_pods=lambda: list(self.pods),
                is_gone=self.gone.__contains__,
                has_image_fs=lambda: False,
                reclaim={"nodefs.available": [self.reclaim]},
                evict=lambda *what: self.evicted.append(what),
                node_event=lambda *what: self.events.append(what),
            ),
            self.clock,
        )

    def summary(self):
        time = format_time(self.clock.now())
        node = {
            "memory": {"time": time, "availableBytes": self.memory, "workingSetBytes": 16 * GI - self.memory},
            "fs": {"time": time, "availableBytes": self.disk, "capacityBytes": 100 * GI},
        }
        return {"node": node, "pods": self.uses}

    def reclaim(self):
        self.reclaims.append(self.clock.monotonic())
        if self.reclaimed is not None:
            self.disk = self.reclaimed

    def round(self):
        self.clock.advance(10)
        return [found["metadata"]["name"] for found in self.manager.synchronize()]


def test_a_node_with_enough_of_all_evicts_none():
    node = Node(MEMORY, DISK, pods=[pod("a")], uses=[use("a", memory=GI)])

    assert node.round() == []
    assert node.manager.conditions() == frozenset()


def test_the_pod_that_uses_most_beyond_its_request_goes_and_is_told():
    pods = [pod("asks", memory="4Gi"), pod("takes", memory="1Gi")]
    node = Node(MEMORY, pods=pods, uses=[use("asks", memory=3 * GI), use("takes", memory=2 * GI)])
    node.memory = GI // 2

    assert node.round() == ["takes"]
    (found,) = node.evicted
    text = (
        "The node was low on resource: memory. Threshold quantity: 1Gi, available: 512Mi. "
        "Container c was using 2Gi, request is 1Gi, has larger consumption of memory. "
    )
    assert found[1] == ("Evicted", text)
    assert found[2] == {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": text}
    assert found[3] == {
        "offending_containers": "c", "offending_containers_usage": "2Gi", "starved_resource": "memory",
    }  # fmt: skip
    assert found[4] == 1.0
    assert node.events == [("Warning", "EvictionThresholdMet", "Attempting to reclaim memory")]
    assert node.manager.evictions == {"memory.available": 1}


def test_one_pod_at_a_time_and_not_before_the_last_one_is_gone():
    pods = [pod("a"), pod("b")]
    node = Node(MEMORY, pods=pods, uses=[use("a", memory=2 * GI), use("b", memory=GI)])
    node.memory = 0

    assert node.round() == ["a"]
    node.pods.pop(0)
    assert node.round() == []
    node.gone.add("a")
    assert node.round() == ["b"]


def test_a_pod_that_does_not_end_is_waited_for_half_a_minute():
    node = Node(MEMORY, pods=[pod("a"), pod("b")], uses=[use("a", memory=2), use("b", memory=1)])
    node.memory = 0
    node.round()
    node.pods.pop(0)

    assert [node.round() for _ in range(3)] == [[], [], ["b"]]


def test_disk_is_reclaimed_before_a_pod_goes():
    node = Node(DISK, pods=[pod("a")], uses=[use("a", root=GI)])
    node.disk, node.reclaimed = 0, 5 * GI

    assert node.round() == []
    assert len(node.reclaims) == 1
    assert node.manager.conditions() == {"DiskPressure"}


def test_a_pod_goes_when_reclaiming_was_not_enough():
    node = Node(DISK, pods=[pod("a"), pod("b")], uses=[use("a", logs=1), use("b", root=GI)])
    node.disk = 0

    assert node.round() == ["b"]
    assert "low on resource: ephemeral-storage" in node.evicted[0][1].message


def test_a_soft_threshold_gives_time_to_stop():
    soft = Threshold("memory.available", Amount(GI), 15.0)
    node = Node(soft, pods=[pod("a")], uses=[use("a")], max_pod_grace_seconds=60.0)
    node.memory = 0

    assert [node.round(), node.round(), node.round()] == [[], [], ["a"]]
    assert node.evicted[0][4] == 60.0


def test_critical_pods_stay():
    node = Node(MEMORY, pods=[pod("a", critical=True)], uses=[use("a", memory=GI)])
    node.memory = 0

    assert node.round() == []
    assert node.evicted == []


@pytest.mark.parametrize(
    ("limited", "used", "text"),
    [
        (
            pod("a", volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]),
            use("a", volumes={"v": GI + 1}),
            'Usage of EmptyDir volume "v" exceeds the limit "1Gi". ',
        ),
        (
            pod("a", limit="1Gi"),
            use("a", ephemeral=GI + 1),
            "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
        ),
        (
            pod("a", limit="1Gi"),
            use("a", root=GI, logs=1, ephemeral=1),
            'Container c exceeded its local ephemeral storage limit "1Gi". ',
        ),
        (pod("a", volumes=[{"name": "v", "emptyDir": {}}]), use("a", volumes={"v": GI}), ""),
        (pod("a", limit="1Gi"), use("a", root=GI), ""),
    ],
)
def test_pods_go_for_their_own_limits(limited, used, text):
    node = Node(pods=[limited], uses=[used])

    assert node.round() == (["a"] if text else [])
    assert [found[1].message for found in node.evicted] == ([text] if text else [])


def test_limits_of_storage_may_be_left_alone():
    node = Node(pods=[pod("a", limit="1Gi")], uses=[use("a", ephemeral=2 * GI)], isolates_local_storage=False)

    assert node.round() == []


@pytest.mark.parametrize(
    ("condition", "asks", "admitted"),
    [
        ("memory", pod("best-effort"), False),
        ("memory", pod("burstable", memory="1Mi"), True),
        ("memory", pod("tolerant", tolerates=True), True),
        ("memory", pod("critical", critical=True), True),
        ("disk", pod("burstable", memory="1Mi"), False),
        ("disk", pod("critical", critical=True), True),
    ],
)
def test_a_node_under_pressure_is_choosy(condition, asks, admitted):
    node = Node(MEMORY, DISK)
    setattr(node, condition, 0)

    node.manager.conditions()
    refusal = node.manager.admit(asks)

    kind = {"memory": "MemoryPressure", "disk": "DiskPressure"}[condition]
    assert refusal == (None if admitted else ("Evicted", f"The node had condition: [{kind}]. "))


def names(pods):
    return [found["metadata"]["name"] for found in pods]


def test_memory_ranks_by_excess_then_priority_then_amount():
    pods = [
        pod("within", memory="2Gi"),
        pod("low-little", memory="1Gi"),
        pod("low-much", memory="1Gi"),
        pod("high", memory="1Gi", priority=5),
        pod("unknown", priority=9),
    ]
    stats = {
        name: use(name, memory=memory)
        for name, memory in (("within", GI), ("low-little", GI + 1), ("low-much", 2 * GI), ("high", 3 * GI))
    }

    found = rank(pods, stats, "memory.available", has_image_fs=False)

    assert names(found) == ["unknown", "low-much", "low-little", "high", "within"]


def test_disk_counts_what_is_on_the_file_system_that_is_full():
    pods = [pod("logs"), pod("layers")]
    stats = {"logs": use("logs", logs=2, root=0), "layers": use("layers", logs=1, root=9)}

    assert names(rank(pods, stats, "nodefs.available", has_image_fs=False)) == ["layers", "logs"]
    assert names(rank(pods, stats, "nodefs.available", has_image_fs=True)) == ["logs", "layers"]
    assert names(rank(pods, stats, "imagefs.available", has_image_fs=True)) == ["layers", "logs"]


def test_process_ids_rank_by_priority_then_processes():
    pods = [pod("many", priority=1), pod("few"), pod("more")]
    stats = {name: {"process_stats": {"process_count": n}} for name, n in (("many", 99), ("few", 1), ("more", 5))}

    assert names(rank(pods, stats, "pid.available", has_image_fs=False)) == ["more", "few", "many"]
