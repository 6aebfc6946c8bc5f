"""The runtime on a daemon in memory: pods, their networks, what is remembered of them, and failures."""

import json
import logging
import threading
from pathlib import Path

import pytest
from docker_rig import IMAGE, METADATA, PAUSE
from hyperkube_runtime.docker import Docker
from hyperkube_runtime.docker.engine import UNREACHABLE, EngineFailed
from hyperkube_runtime.docker.names import TYPE_LABEL
from hyperkube_runtime.docker.oom_scores import least_oom_score_adj
from hyperkube_runtime.docker.resolver import resolver_text

from hyperkube.hookspecs.network import NetworkFailed, PodNetwork
from hyperkube.hookspecs.runtime import ContainerNotFound, ImageNotPresent, RegistryCredentials, RuntimeFailed
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext


class SmallNetwork:
    """Gives one address; notes what it was asked."""

    needs_namespaces = True

    def __init__(self):
        self.up, self.down, self.cidr, self.problem, self.garbage = [], [], "", "", None

    def setup(self, pod):
        if self.problem:
            raise NetworkFailed(self.problem)
        self.up.append(pod)
        return PodNetwork(("10.0.0.2", "fd00::2"))

    def teardown(self, pod):
        self.down.append(pod)

    def status(self):
        return self.problem

    def set_pod_cidr(self, cidr):
        self.cidr = cidr

    def collect_garbage(self, sandbox_ids):
        self.garbage = sandbox_ids()


@pytest.fixture
def network(rig):
    network = SmallNetwork()
    rig.runtime.use_network("small", network)
    return network


def test_a_pod_has_the_address_of_dockers_bridge(rig):
    rig.sandbox()

    (sandbox,), _ = rig.runtime.pod("u")

    assert (sandbox.ips, sandbox.name, sandbox.namespace) == (("172.17.0.2",), "web", "shop")


def test_a_network_plugin_connects_the_namespace_of_the_sandbox(rig, network):
    sandbox = rig.sandbox(port_mappings=[{"host_port": 80, "container_port": 8080}], annotations={"limit": "1M"})

    (request,) = network.up
    pid = rig.engine.inspect(sandbox)["State"]["Pid"]
    assert (request.sandbox_id, request.namespace_path) == (sandbox, f"/proc/{pid}/ns/net")
    assert (request.port_mappings[0].container_port, dict(request.annotations)) == (8080, {"limit": "1M"})
    assert rig.engine.bodies[sandbox]["HostConfig"]["NetworkMode"] == "none"
    (status,), _ = rig.runtime.pod("u")
    assert status.ips == ("10.0.0.2", "fd00::2")


def test_a_pod_on_the_nodes_network_is_not_connected(rig, network):
    on_host = {"security_context": {"namespace_options": {"network": "NODE"}}}
    sandbox = rig.sandbox(linux=on_host)
    rig.runtime.stop_sandbox(sandbox)

    (status,), _ = rig.runtime.pod("u")

    assert (network.up, network.down) == ([], [])
    assert (status.host_network, status.ips) == (True, ())


def test_a_network_without_namespaces_leaves_pods_on_dockers_bridge(rig):
    network = SmallNetwork()
    network.needs_namespaces = False

    rig.runtime.use_network("noop", network)
    sandbox = rig.sandbox()

    assert network.up == []
    assert rig.engine.bodies[sandbox]["HostConfig"]["NetworkMode"] == ""


def test_a_sandbox_whose_network_fails_is_stopped(rig, network):
    network.problem = "no addresses left"

    with pytest.raises(RuntimeFailed, match=r'failed to set up sandbox container ".+" network for pod "web": no addr'):
        rig.sandbox()

    assert [sandbox.ready for sandbox in rig.runtime.sandboxes()] == [False]
    network_down = "NetworkReady=false reason:NetworkPluginNotReady message:docker: network plugin is not ready: "
    assert rig.runtime.status().network_problem == network_down + "no addresses left"


def test_addresses_and_networks_outlive_the_kubelet(rig, network):
    sandbox = rig.sandbox()

    after = rig.again()
    after.runtime.use_network("small", network)

    (status,), _ = after.runtime.pod("u")
    assert status.ips == ("10.0.0.2", "fd00::2")
    after.runtime.remove_sandbox(sandbox)
    assert [request.sandbox_id for request in network.down] == [sandbox]
    assert not list(after.runtime.sandboxes())


def test_the_network_of_a_sandbox_that_docker_lost_is_taken_down(rig, network):
    sandbox = rig.sandbox()
    rig.engine.remove(sandbox)

    (lost,) = rig.runtime.sandboxes()
    (known,), _ = rig.runtime.pod("u")
    rig.runtime.remove_sandbox(sandbox)

    assert (lost.id, lost.ready, lost.uid, known.id) == (sandbox, False, "u", sandbox)
    (request,) = network.down
    assert (request.sandbox_id, request.namespace_path, request.name) == (sandbox, "", "web")
    assert not list(rig.runtime.sandboxes())


def test_a_sandbox_that_was_never_connected_is_not_ready(rig, network):
    sandbox = rig.sandbox()
    path = rig.folder / "state" / "sandbox" / sandbox
    path.write_text(path.read_text().replace('"10.0.0.2", "fd00::2"', ""))

    after = rig.again()
    after.runtime.use_network("small", network)

    (listed,), ((told,), _) = after.runtime.sandboxes(), after.runtime.pod("u")
    assert (listed.ready, told.ready, told.ips) == (False, False, ())


def test_a_sandbox_whose_resolver_file_cannot_be_written_is_stopped(rig):
    rig.engine.resolver_file = "/no/such/folder/resolv.conf"

    with pytest.raises(RuntimeFailed, match='conf failed for pod "web"'):
        rig.sandbox(dns_config={})

    assert [sandbox.ready for sandbox in rig.runtime.sandboxes()] == [False]


def test_what_a_network_holds_for_no_sandbox_is_garbage(rig, network):
    sandbox = rig.sandbox()

    rig.runtime.collect_network_garbage()
    rig.runtime.update_runtime_config("10.1.0.0/24")

    assert (network.garbage, network.cidr) == (frozenset({sandbox}), "10.1.0.0/24")


def test_a_checkpoint_that_makes_no_sense_is_removed(rig, caplog):
    sandbox = rig.sandbox()
    path = rig.folder / "state" / "sandbox" / sandbox
    assert json.loads(path.read_text())["namespace"] == "shop"
    path.write_text("{")

    after = rig.again()

    assert not path.exists()
    assert "is corrupted and removed" in caplog.text
    assert [found.id for found in after.runtime.sandboxes()] == [sandbox]


def test_the_resolver_file_is_what_the_pod_asks_for(rig, tmp_path):
    file = tmp_path / "resolv.conf"
    rig.engine.resolver_file = str(file)
    dns = {"servers": ["10.96.0.10"], "searches": ["a", "b"], "options": ["ndots:5"]}

    rig.sandbox(dns_config=dns)

    assert file.read_text() == "nameserver 10.96.0.10\nsearch a b\noptions ndots:5\n"
    assert resolver_text({}) == ""


def test_the_log_is_found_where_the_kubelet_looks_for_it(rig):
    container = rig.container(rig.sandbox())
    rig.runtime.start_container(container)
    link = Path(rig.runtime.container(container).log_path)

    assert link == rig.folder / "logs" / "app" / "0.log"
    assert str(link.readlink()) == rig.engine.inspect(container)["LogPath"]
    rig.runtime.start_container(container)
    rig.runtime.stop_container(container, 1)
    rig.runtime.remove_container(container)
    assert not link.is_symlink()


def test_a_container_of_an_earlier_try_gives_its_name_up(rig):
    sandbox = rig.sandbox()
    before = rig.container(sandbox)

    after = rig.container(sandbox)

    assert [found.id for found in rig.runtime.containers()] == [after] != [before]


def test_a_running_container_keeps_its_name(rig):
    sandbox = rig.sandbox()
    running = rig.container(sandbox)
    rig.runtime.start_container(running)

    with pytest.raises(RuntimeFailed, match="cannot remove a running container"):
        rig.container(sandbox)

    assert rig.runtime.container(running).state == "running"


def test_an_image_that_is_not_there_is_to_be_pulled_first(rig):
    with pytest.raises(ImageNotPresent, match="No such image: other:1"):
        rig.container(rig.sandbox(), image={"image": "other:1"})


def test_the_image_of_sandboxes_is_pulled_and_pinned(rig):
    rig.runtime.remove_image(PAUSE)

    rig.sandbox()

    assert rig.engine.pulled == [(PAUSE, {})]
    assert {image.tags[0]: image.pinned for image in rig.runtime.images()} == {PAUSE: True, IMAGE: False}


def test_a_pull_has_a_login_and_its_failure_dockers_words(rig):
    rig.runtime.pull_image({"image": "private:1"}, RegistryCredentials(username="me", password="secret"), {})
    rig.engine.failures["pull"] = [EngineFailed(404, "Error response from daemon: no such manifest")]

    with pytest.raises(RuntimeFailed, match="no such manifest") as caught:
        rig.runtime.pull_image({"image": "other:1"}, None, {})

    assert rig.engine.pulled == [("private:1", {"username": "me", "password": "secret"})]
    assert caught.value.reason == "ErrImagePull"


def test_other_runtime_handlers_are_refused(rig):
    with pytest.raises(RuntimeFailed, match='RuntimeHandler "gvisor" not supported'):
        rig.runtime.run_sandbox(rig.config(), "gvisor")


def test_a_daemon_that_is_away_is_the_runtimes_problem(rig):
    rig.engine.failures["version"] = [EngineFailed(UNREACHABLE, "Cannot connect")]
    text = "RuntimeReady=false reason:DockerDaemonNotReady message:docker: failed to get docker version: Cannot connect"

    assert rig.runtime.status().runtime_problem == text
    assert rig.runtime.status().runtime_problem == ""


@pytest.mark.parametrize("call", ["containers", "inspect", "stop", "remove"])
def test_failures_of_the_daemon_are_the_runtimes(rig, call):
    sandbox = rig.sandbox()
    rig.runtime.start_container(rig.container(sandbox))
    rig.engine.failures[call] = [EngineFailed(500, "on fire")]

    with pytest.raises(RuntimeFailed, match="on fire"):
        rig.runtime.remove_sandbox(sandbox)


def test_what_ends_by_itself_has_its_exit_code(rig):
    container = rig.container(rig.sandbox())
    rig.runtime.start_container(container)
    rig.engine.end(container, 3)

    _, (status,) = rig.runtime.pod("u")

    assert (status.state, status.exit_code, status.reason, status.image) == ("exited", 3, "Error", IMAGE)


def test_that_memory_was_used_up_may_be_known_after_the_end(rig):
    limits = {"linux": {"resources": {"memory_limit_in_bytes": 64 << 20}}}
    container = rig.container(rig.sandbox(), **limits)
    rig.runtime.start_container(container)
    rig.engine.end(container, 137)
    late = threading.Timer(0.05, rig.engine.tell_out_of_memory, (container,))
    late.start()

    status = rig.runtime.container(container)
    late.join()

    assert (status.exit_code, status.reason) == (137, "OOMKilled")


def test_limits_change_in_place(rig):
    container = rig.container(rig.sandbox())

    rig.runtime.update_container_resources(container, {"memory_limit_in_bytes": 64})

    assert rig.engine.inspect(container)["HostConfig"]["Memory"] == 64
    with pytest.raises(ContainerNotFound):
        rig.runtime.update_container_resources("nosuch", {})


def test_figures_are_those_of_cri(rig):
    sandbox = rig.sandbox()
    container = rig.container(sandbox)
    rig.runtime.start_container(container)

    (stats,) = rig.runtime.container_stats()
    (usage,) = rig.runtime.usage()
    (of_pod,) = rig.runtime.sandbox_stats()

    assert (stats["attributes"]["id"], stats["writable_layer"]["used_bytes"]["value"]) == (container, 11)
    assert (usage.cpu_nanoseconds, usage.memory_bytes) == (42, 2000)
    assert of_pod["attributes"]["metadata"] == METADATA
    assert of_pod["linux"]["network"]["default_interface"]["rx_bytes"] == {"value": 5}
    (images,) = rig.runtime.image_fs_info()["image_filesystems"]
    assert (images["fs_id"]["mountpoint"], images["used_bytes"]["value"]) == ("/var/lib/docker", 14)


def test_all_containers_are_asked_about_at_once(rig, monkeypatch):
    """Docker answers each question after a second, however many there are."""
    sandbox = rig.sandbox()
    containers = [rig.container(sandbox, metadata={"name": name}) for name in ("a", "b", "c")]
    for container in containers:
        rig.runtime.start_container(container)
    together, told = threading.Barrier(len(containers)), rig.engine.stats

    def stats(container_id):
        together.wait(10)
        return told(container_id)

    monkeypatch.setattr(rig.engine, "stats", stats)

    assert {one["attributes"]["id"] for one in rig.runtime.container_stats()} == set(containers)


def test_containers_of_no_pod_are_none_of_ours(rig):
    rig.engine.create("registry", {"Image": IMAGE, "Labels": {TYPE_LABEL: "container"}})

    assert not list(rig.runtime.containers())


def test_docker_rotates_logs_itself(rig):
    with pytest.raises(RuntimeFailed, match="does not support reopening container log files"):
        rig.runtime.reopen_log(rig.container(rig.sandbox()))


def test_scores_may_be_lowered_with_the_right_to_it_only(tmp_path):
    (tmp_path / "oom_score_adj").write_text("100\n")
    for bound, least in (("000001ffffffffff", -1000), ("000001fffeffffff", 100)):
        (tmp_path / "status").write_text(f"Name:\tx\nCapBnd:\t{bound}\n")

        assert least_oom_score_adj(tmp_path) == least
    assert least_oom_score_adj(tmp_path / "nosuch") == -1000


def build(**settings):
    context = PluginContext(name="docker", settings=settings, logger=logging.getLogger("test"))
    return Docker(context).runtime_build()


def test_a_daemon_that_does_not_answer_is_said_at_the_start(tmp_path):
    with pytest.raises(
        UsageError, match="unable to get docker version: Cannot connect to the Docker daemon at unix://"
    ):
        build(docker_endpoint=f"unix://{tmp_path}/no.sock")


@pytest.mark.parametrize("endpoint", ["npipe:////./pipe/docker", "unix://relative", "docker"])
def test_an_endpoint_that_is_no_socket_is_refused(endpoint):
    with pytest.raises(UsageError, match="must be unix:///PATH or tcp://HOST:PORT"):
        build(docker_endpoint=endpoint)


def test_the_handler_nsenter_is_refused_and_others_are_native(tmp_path, caplog):
    with pytest.raises(UsageError, match="commands would run outside of the container's limits"):
        build(docker_exec_handler="nsenter")
    with pytest.raises(UsageError, match="unable to get docker version"):
        build(docker_exec_handler="foo", docker_endpoint=f"unix://{tmp_path}/no.sock")

    assert 'unknown Docker exec handler "foo"; defaulting to native' in caplog.text
