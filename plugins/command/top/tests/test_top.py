"""The picture of a cluster: what is drawn from what was read."""

from hyperkube_command.top import Seen, answered, drawn, rates
from hyperkube_lib.console.node_use import node_uses

NODE = {
    "metadata": {"name": "n1"},
    "status": {
        "allocatable": {"cpu": "2", "memory": "1Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
POD = {
    "metadata": {"name": "p"},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]},
}
USE = {"metadata": {"name": "n1"}, "usage": {"cpu": "100m", "memory": "512Mi"}}
METRICS = """# HELP apiserver_request_total Requests answered.
# TYPE apiserver_request_total counter
apiserver_request_total{verb="GET",resource="pods",code="200"} 4
apiserver_request_total{verb="GET",resource="nodes",code="200"} 2
apiserver_request_total{verb="WATCH",resource="pods",code="200"} 1
# TYPE other counter
other{verb="GET"} 9
"""


def seen(at=0.0, requests=None, metrics=(USE,), pods=(), nodes=1):
    named = [{**NODE, "metadata": {"name": f"n{index + 1}"}} for index in range(nodes)]
    return Seen(at, node_uses(named, [POD], metrics), {"Running": 1}, list(pods), requests or {})


def test_a_node_has_what_is_requested_beside_what_is_used():
    lines = drawn(seen(), None, 100)

    row = next(line.split() for line in lines if line.startswith("n1"))
    assert row == ["n1", "yes", "25%", "5%", "0%", "50%", "1", "of", "110"]


def test_without_measurements_use_is_a_dash():
    row = next(line.split() for line in drawn(seen(metrics=()), None, 100) if line.startswith("n1"))

    assert row[2:6] == ["25%", "-", "0%", "-"]


def test_requests_are_counted_by_verb_and_shown_per_second():
    assert answered(METRICS) == {"GET": 6, "WATCH": 1}
    assert rates(seen(12.0, {"GET": 26, "LIST": 1}), seen(10.0, {"GET": 6, "LIST": 1})) == {"GET": 10.0}
    assert drawn(seen(12.0, {"GET": 26}), seen(10.0, {"GET": 6}), 100)[0] == "requests/s  GET 10.0"


def test_the_first_look_and_a_server_that_began_anew_have_no_rates():
    assert rates(seen(1.0, {"GET": 5}), None) == {}
    assert rates(seen(2.0, {"GET": 1}), seen(1.0, {"GET": 5})) == {}


def test_a_small_terminal_shows_the_largest():
    pods = [(f"ns/p{index}", 1.0 - index / 100, 1 << 20) for index in range(50)]

    lines = drawn(seen(pods=pods, nodes=40), None, 24)

    assert len(lines) <= 24
    assert any(line.startswith("ns/p0 ") for line in lines)
    assert any(line.endswith("more nodes") for line in lines)
