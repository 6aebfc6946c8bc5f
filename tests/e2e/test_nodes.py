"""The node, and what may run on it."""

from __future__ import annotations

from local_cluster import eventually


def _node(up):
    return up.get("nodes")[0]


def test_the_node_is_ready_and_says_what_it_has(up):
    node = _node(up)["metadata"]["name"]

    table = up.kubectl("get", "nodes", "-o", "wide").out
    described = up.kubectl("describe", "node", node).out

    assert table.splitlines()[1].split()[:2] == [node, "Ready"]
    assert "process://" in table
    assert "KubeletReady" in described
    assert "Allocatable:" in described
    assert "Non-terminated Pods:" in described
    assert "InternalIP:" in described


def test_drain_empties_the_node_and_uncordon_opens_it(up, room):
    node = _node(up)["metadata"]["name"]
    room.kubectl("create", "deployment", "web", "--image=host", "--", "sh", "-c", "exec sleep 1000")
    room.kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
    before = room.get("pods")[0]["metadata"]["name"]

    try:
        drained = up.kubectl(
            "drain", node, "--force", "--delete-emptydir-data", "--ignore-daemonsets", "--grace-period=1",
            "--pod-selector=app=web", "--timeout=60s",
        )  # fmt: skip

        assert f"node/{node} drained" in drained.out
        assert f"pod/{before} evicted" in drained.out
        assert "SchedulingDisabled" in up.kubectl("get", "node", node).out
        pending = eventually(lambda: [p for p in room.get("pods") if p["status"]["phase"] == "Pending"])
        events = eventually(
            lambda: "FailedScheduling" in (text := room.kubectl("events").out) and text, why="the scheduler says why"
        )
        assert "were unschedulable" in events
        assert pending[0]["metadata"]["name"] != before
    finally:
        up.kubectl("uncordon", node)
    room.kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")


def test_a_taint_keeps_pods_away_until_they_tolerate_it(up, room):
    node = _node(up)["metadata"]["name"]
    up.kubectl("taint", "node", node, "only=special:NoSchedule")
    try:
        room.kubectl("run", "plain", "--image=host", "--", "sleep", "1000")
        room.kubectl(
            "run", "special", "--image=host",
            '--overrides={"spec":{"tolerations":[{"key":"only","operator":"Exists"}]}}', "--", "sleep", "1000",
        )  # fmt: skip
        room.kubectl("wait", "--for=condition=Ready", "pod/special", "--timeout=60s")

        eventually(lambda: "had untolerated taint" in room.kubectl("describe", "pod", "plain").out)
    finally:
        up.kubectl("taint", "node", node, "only-")
    room.kubectl("wait", "--for=condition=Ready", "pod/plain", "--timeout=60s")


def test_a_pod_that_asks_for_too_much_stays_pending_with_the_reason(room):
    room.kubectl(
        "run", "greedy", "--image=host",
        '--overrides={"spec":{"containers":[{"name":"greedy","image":"host","resources":{"requests":{"cpu":"1000"}}}]}}',
    )  # fmt: skip

    described = eventually(
        lambda: "FailedScheduling" in (text := room.kubectl("describe", "pod", "greedy").out) and text
    )

    assert "0/1 nodes are available: 1 Insufficient cpu." in described
