"""A device plugin of the test's own, over real sockets: registration, allocation, health, restarts, hostile plugins."""

import threading
import time

import pytest
from hyperkube_host.kubelet.apis import device_plugin
from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.devicemanager.device_choice import choose_devices, device_hints
from hyperkube_host.kubelet.cm.devicemanager.device_manager import STOP_GRACE_SECONDS, DeviceManager
from hyperkube_host.kubelet.cm.devicemanager.endpoint import Device
from hyperkube_host.kubelet.cm.devicemanager.pod_devices import FILE_NAME
from hyperkube_host.kubelet.cm.devicemanager.registration import DeviceRegistration
from hyperkube_host.kubelet.cm.devicemanager.run_options import run_options_of
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.cm.topologymanager.hints import NumaInfo
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager, TopologyOptions
from hyperkube_lib.grpc_messages import GrpcServer, RpcFailed, Stub, unix_channel

from hyperkube.machinery.clock import FakeClock

NAME = "example.com/thing"
NUMA = NumaInfo((0, 1), {})


def until(condition, seconds=10):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


class Plugin:
    """A device plugin with some devices; `tell` sends the list again."""

    def __init__(self, folder, devices, **options):
        self.socket, self.devices, self.options = folder / "thing.sock", devices, options
        self.calls, self.refuse = [], ""
        self._changed = threading.Event()
        self._stopped = False
        self.server = GrpcServer(threads=6)
        handlers = {
            "GetDevicePluginOptions": lambda _: self.options,
            "ListAndWatch": self._list_and_watch,
            "Allocate": self._allocate,
            "GetPreferredAllocation": self._preferred,
            "PreStartContainer": lambda request: self._note("PreStartContainer", request, {}),
        }
        self.server.add_service(device_plugin().service("DevicePlugin"), handlers)
        self.server.listen(str(self.socket))
        self.server.start()

    def _list_and_watch(self, _request):
        while not self._stopped:
            self._changed.clear()
            yield {"devices": self.devices}
            self._changed.wait()

    def tell(self, devices):
        self.devices = devices
        self._changed.set()

    def _note(self, name, request, answer):
        self.calls.append((name, request))
        if self.refuse:
            raise RpcFailed("INTERNAL", self.refuse)
        return answer

    def _allocate(self, request):
        ids = ",".join(request["container_requests"][0]["devices_ids"])
        one = {"envs": {"THINGS": ids}, "devices": [{"host_path": "/dev/null", "container_path": "/dev/thing"}]}
        return self._note("Allocate", request, {"container_responses": [one]})

    def _preferred(self, request):
        one = request["container_requests"][0]
        return {"container_responses": [{"deviceIDs": [*reversed(one["available_deviceIDs"]), "made-up"]}]}

    def register(self, folder, name=NAME, version="v1beta1", endpoint="thing.sock"):
        with unix_channel(str(folder / "kubelet.sock")) as channel:
            request = {"version": version, "endpoint": endpoint, "resource_name": name, "options": self.options}
            Stub(channel, device_plugin().service("Registration")).call("Register", request, 15)

    def stop(self):
        self._stopped = True
        self._changed.set()
        self.server.stop()
        self.socket.unlink(missing_ok=True)


def devices(*ids, health="Healthy", node=None):
    topology = {} if node is None else {"topology": {"nodes": [{"ID": node}]}}
    return [{"ID": one, "health": health, **topology} for one in ids]


def container(name="c", count=1, resource=NAME):
    return {"name": name, "resources": {"limits": {resource: str(count)}, "requests": {resource: str(count)}}}


def pod(uid, *containers, inits=()):
    return {"metadata": {"name": uid, "uid": uid}, "spec": {"containers": [*containers], "initContainers": [*inits]}}


@pytest.fixture
def node(tmp_path):
    """A device manager with its registration service, and a plugin of two things."""

    class Node:
        folder = tmp_path / "device-plugins"
        clock = FakeClock()

        def __init__(self):
            self.changes = 0
            self.plugins = []
            self.manager = self.restarted()
            self.registration = DeviceRegistration(self.folder, self.manager)
            self.registration.start()

        def restarted(self):
            affinity = TopologyManager(TopologyOptions(), NUMA)
            return DeviceManager(self.folder, affinity, NUMA, self.clock, self._changed)

        def _changed(self):
            self.changes += 1

        def plugin(self, listed=None, **options):
            made = Plugin(self.folder, devices("a", "b") if listed is None else listed, **options)
            self.plugins.append(made)
            made.register(self.folder)
            until(lambda: self.allocatable() == sum(one["health"] == "Healthy" for one in made.devices))
            return made

        def capacity(self):
            return {name: amount.value() for name, amount in self.manager.capacity()[0].items()}.get(NAME)

        def allocatable(self):
            return {name: amount.value() for name, amount in self.manager.capacity()[1].items()}.get(NAME)

    made = Node()
    yield made
    made.manager.close()
    made.registration.close()
    for plugin in made.plugins:
        plugin.stop()


def test_devices_of_a_registered_plugin_are_the_nodes(node):
    node.plugin()

    assert (node.capacity(), node.allocatable()) == (2, 2)
    assert node.changes


def test_a_container_is_created_with_what_the_plugin_answered(node):
    plugin = node.plugin(pre_start_required=True)
    one = pod("p", container())

    node.manager.allocate(one, container())
    options = node.manager.run_options(one, container())

    assert options.devices == ({"host_path": "/dev/null", "container_path": "/dev/thing"},)
    assert options.envs == ({"key": "THINGS", "value": "a"},)
    assert [name for name, _ in plugin.calls] == ["Allocate", "PreStartContainer"]
    assert plugin.calls[1][1] == {"devices_ids": ["a"]}


def test_the_last_device_is_given_once(node):
    node.plugin()
    node.manager.allocate(pod("p", container(count=2)), container(count=2))

    with pytest.raises(AllocationFailed) as caught:
        node.manager.allocate(pod("q", container()), container())

    assert caught.value.as_failure().message == (
        f"Allocate failed due to requested number of devices unavailable for {NAME}. Requested: 1, Available: 0,"
        " which is unexpected"
    )


def test_devices_of_pods_that_are_gone_are_given_again(node):
    node.plugin()
    node.manager.allocate(pod("p", container(count=2)), container(count=2))

    node.manager.remove_stale(list)
    node.manager.allocate(pod("q", container()), container())

    assert node.manager.devices_of("q", "c")[NAME].ids == {"a"}


def test_a_container_goes_on_with_the_devices_of_ended_init_containers(node):
    node.plugin()
    one = pod("p", container(), container("d"), inits=[container("i", 2)])

    for each in (*one["spec"]["initContainers"], *one["spec"]["containers"]):
        node.manager.allocate(one, each)

    assert [sorted(node.manager.devices_of("p", name)[NAME].ids) for name in "icd"] == [["a", "b"], ["a"], ["b"]]


def test_the_plugins_preference_counts_as_far_as_it_is_possible(node):
    node.plugin(devices("a", "b", "c"), get_preferred_allocation_available=True)

    node.manager.allocate(pod("p", container(count=2)), container(count=2))

    assert node.manager.devices_of("p", "c")[NAME].ids == {"b", "c"}


def test_a_device_that_breaks_is_told_in_the_node_and_in_the_pod(node):
    plugin, one = node.plugin(), pod("p", container())
    node.manager.allocate(one, container())

    plugin.tell([*devices("a", health="Unhealthy"), *devices("b")])
    until(lambda: node.allocatable() == 1)

    assert node.capacity() == 2
    assert node.manager.health(one, container()) == [
        {"name": NAME, "resources": [{"resourceID": "a", "health": "Unhealthy"}]}
    ]


def test_a_plugin_that_goes_away_leaves_capacity_for_a_while(node):
    node.plugin().stop()
    until(lambda: node.allocatable() == 0)

    assert node.capacity() == 2
    node.clock.advance(STOP_GRACE_SECONDS + 1)
    assert (node.capacity(), node.allocatable()) == (0, 0)


def test_without_its_plugin_no_device_is_given(node):
    node.plugin().stop()
    until(lambda: node.allocatable() == 0)

    with pytest.raises(AllocationFailed, match="no healthy devices present; cannot allocate unhealthy devices"):
        node.manager.allocate(pod("p", container()), container())


def test_what_the_plugin_refuses_refuses_the_pod(node):
    node.plugin().refuse = "out of order"

    with pytest.raises(AllocationFailed, match="rpc error: code = Internal desc = out of order"):
        node.manager.allocate(pod("p", container()), container())


def test_a_device_that_cannot_be_reset_stops_the_container(node):
    plugin, one = node.plugin(pre_start_required=True), pod("p", container())
    node.manager.allocate(one, container())
    plugin.refuse = "stuck"

    with pytest.raises(ContainerManagerFailed, match=r"PreStartContainer rpc failed with err: .*stuck"):
        node.manager.run_options(one, container())


def test_a_restarted_kubelet_knows_what_it_gave(node):
    node.plugin()
    one = pod("p", container())
    node.manager.allocate(one, container())

    again = node.restarted()
    again.allocate(one, container())

    assert again.run_options(one, container()).envs == ({"key": "THINGS", "value": "a"},)
    assert list(again.capacity()[0]) == [NAME]


def test_a_corrupted_checkpoint_is_no_reason_not_to_start(node):
    node.plugin()
    (node.folder / FILE_NAME).write_text('{"Data": {}, "Checksum": 1}')

    assert node.restarted().capacity() == ({}, {})


def test_a_start_removes_the_sockets_of_an_earlier_one(node):
    plugin = node.plugin()
    node.registration.close()

    DeviceRegistration(node.folder, node.manager).start()

    assert not plugin.socket.exists()
    assert (node.folder / FILE_NAME).exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"version": "v1alpha"}, 'requested API version "v1alpha" is not supported by kubelet.'),
        ({"name": "cpu"}, 'the ResourceName "cpu" is invalid'),
        ({"endpoint": "../../etc/passwd"}, "is no name of a socket"),
        ({"endpoint": "kubelet.sock"}, "is no name of a socket"),
        ({"endpoint": "nothing-there.sock"}, None),
    ],
)
def test_plugins_that_lie_are_refused(node, given, message):
    plugin = Plugin(node.folder, devices("a"))
    node.plugins.append(plugin)

    if message is None:
        plugin.register(node.folder, **given)
        until(lambda: node.manager.capacity()[1][NAME].value() == 0)
    else:
        with pytest.raises(RpcFailed, match=message):
            plugin.register(node.folder, **given)


THINGS = {
    "a0": Device("a0", healthy=True, numa_nodes=frozenset({0})),
    "b0": Device("b0", healthy=True, numa_nodes=frozenset({0})),
    "c1": Device("c1", healthy=True, numa_nodes=frozenset({1})),
    "d": Device("d", healthy=True, numa_nodes=None),
}


def no_preference(*_):
    return []


@pytest.mark.parametrize(
    ("count", "nodes", "reusable", "expected"),
    [
        pytest.param(1, {1}, (), {"c1"}, id="near"),
        pytest.param(2, {1}, (), {"c1", "a0"}, id="near-first"),
        pytest.param(1, None, (), {"a0"}, id="anywhere"),
        pytest.param(2, {0}, ("c1",), {"c1", "a0"}, id="reused-first"),
    ],
)
def test_devices_near_the_other_resources_are_chosen(count, nodes, reusable, expected):
    affinity = None if nodes is None else frozenset(nodes)

    assert choose_devices(THINGS, set(THINGS), reusable, count, affinity, no_preference) == expected


def test_hints_are_the_nodes_with_enough_devices():
    hints = device_hints(THINGS, ["a0", "c1"], (), 2, NUMA)

    assert [(sorted(hint.nodes), hint.preferred) for hint in hints] == [([0, 1], False)]


def test_of_two_plugins_that_name_one_path_the_first_counts():
    responses = [
        {
            "mounts": [{"container_path": "/x", "host_path": "/1", "read_only": True}],
            "cdi_devices": [{"name": "v/c=1"}],
        },
        {"mounts": [{"container_path": "/x", "host_path": "/2"}], "cdi_devices": [{"name": "v/c=1"}]},
    ]

    options = run_options_of(responses)

    assert options.mounts == ({"container_path": "/x", "host_path": "/1", "readonly": True},)
    assert options.cdi_devices == ("v/c=1",)
