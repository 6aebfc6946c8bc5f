"""Reading does not run commands: what runs one in a pod asks for ``create``, with whatever method it is sent."""

import sys
from pathlib import Path

import pytest
from hyperkube_host.kubelet.server.auth import subresources, verbs

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from attacked_world import PODS, RBAC, Call, World, binding, role, rule

WEBSOCKET = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "v5.channel.k8s.io"}  # fmt: skip
PARTS = ("pods/exec", "pods/attach", "pods/portforward", "nodes/proxy")
NO_ADDRESS = 500
"""What is answered past all checks: the nodes of this world have no address."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("create"))
    for user, given in (("reader", ["get"]), ("podmaker", ["get", "create"])):
        world.make(f"{RBAC}/clusterroles", role(f"stream-{user}", *(rule(part, *given) for part in PARTS)))
        world.make(
            f"{RBAC}/clusterrolebindings", binding("ClusterRoleBinding", f"stream-{user}", f"stream-{user}", user)
        )
    yield world
    world.close()


PATHS = [
    f"{PODS}/on-n1/exec?command=id&stdout=true",
    f"{PODS}/on-n1/attach?stdout=true",
    f"{PODS}/on-n1/portforward?ports=80",
    "/api/v1/nodes/n1/proxy/exec/a/on-n1/c?command=id&output=1",
    "/api/v1/nodes/n1/proxy//attach/a/on-n1/c?output=1",
]


@pytest.mark.parametrize("path", PATHS)
def test_the_right_to_get_is_not_enough_by_websocket(world, path):
    assert world.ask(Call("reader", "GET", path, headers=WEBSOCKET)).status == 403
    assert world.ask(Call("podmaker", "GET", path, headers=WEBSOCKET)).status == NO_ADDRESS


@pytest.mark.parametrize("path", PATHS[:3])
def test_nor_without_an_upgrade(world, path):
    answer = world.ask(Call("reader", "GET", path))

    assert (answer.status, answer.json["message"][:28]) == (403, 'pods "on-n1" is forbidden: ')


def test_a_node_is_still_read_through_its_proxy(world):
    assert world.ask(Call("reader", "GET", "/api/v1/nodes/n1/proxy/pods")).status == NO_ADDRESS


@pytest.mark.parametrize("path", ["/exec/a/p/c", "//attach/a/p/c", "/run/a/p/c", "/portForward/a/p"])
def test_the_kubelet_asks_for_create_too(path):
    assert verbs("GET", path) == ("get", "create")
    assert verbs("POST", path) == ("create",)


@pytest.mark.parametrize("path", ["/pods", "/logs/exec", "/containerLogs/a/p/exec", "/", "/execution"])
def test_the_kubelet_asks_no_more_for_what_is_read(path):
    assert verbs("GET", path) == ("get",)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/checkpoint/a/p/c", ("checkpoint",)),
        ("/stats/x", ("stats",)),
        ("/logs/../exec/a/p/c", ("log",)),
        ("//pods", ("proxy",)),
    ],
)
def test_each_part_of_the_kubelet_has_its_own_permission(path, wanted):
    assert tuple(subresources(path)) == wanted
