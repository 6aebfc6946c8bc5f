"""Nodes that hold the pod's images score higher, by upstream's integers."""

import pytest
from hyperkube_lib.scheduling.held_images import normalized
from hyperkube_scheduler.image_locality import ImageLocality
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import node, pod_info, table

MB = 1024 * 1024


def with_images(name, **sizes):
    made = node(name)
    made["status"]["images"] = [
        {"names": [f"gcr.io/{image}:latest"], "sizeBytes": size * MB} for image, size in sizes.items()
    ]
    return made


def nodes_of(*nodes):
    filled = table()
    for each in nodes:
        filled.put_node(each)
    return filled


def wants(*images):
    return {"spec": {"containers": [{"name": image, "image": f"gcr.io/{image}"} for image in images]}}


def test_upstreams_two_nodes_score_as_there():
    # 250 MB on one of two nodes: 125 MB of 1000 over 23; 40 and 250 against 2 x 1000 for two containers
    nodes = nodes_of(
        with_images("a", **{"40": 40, "300": 300, "2000": 2000}), with_images("b", **{"250": 250, "10": 10})
    )
    plugin = ImageLocality(None)

    one = plugin.score(pod_info(wants("250"), nodes), nodes)
    two = plugin.score(pod_info(wants("40", "250"), nodes), nodes)
    large = plugin.score(pod_info(wants("10", "2000"), nodes), nodes)

    assert one.tolist() == [0, 100 * (125 - 23) // (1000 - 23)]
    assert two.tolist() == [0, 5]
    assert large.tolist() == [49, 0]


def test_a_changed_node_is_looked_at_again():
    nodes = nodes_of(with_images("a", big=1000), node("b"))
    plugin = ImageLocality(None)
    pod = pod_info(wants("big"), nodes)
    plugin.score(pod, nodes)

    nodes.put_node(node("a"))

    assert plugin.skips_score(pod, nodes)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        pytest.param("root", "root:latest", id="bare"),
        pytest.param("root:tag", "root:tag", id="tagged"),
        pytest.param("gcr.io:5000/root", "gcr.io:5000/root:latest", id="port-is-no-tag"),
        pytest.param("root@" + "sha256:" + 8 * "0", "root@sha256:" + 8 * "0", id="digest"),
    ],
)
def test_names_are_as_runtimes_report_them(image, expected):
    assert normalized(image) == expected


class TestContract(SchedulingContract):
    plugin = ImageLocality
    nodes = ({"name": "a"}, {"name": "b"})
    pods = (wants("big"),)

    def world(self):
        nodes = nodes_of(with_images("a", big=1000), node("b"))
        return nodes, [pod_info(pod, nodes) for pod in self.pods]
