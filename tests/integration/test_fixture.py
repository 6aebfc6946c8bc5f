"""The pytest fixtures: a whole cluster in this process behaves like one, and leaves nothing behind."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
import urllib.request

import pytest
from hyperkube_testing.cluster.cluster import ControlPlane, NotInTime

from hyperkube.kinds.resources import CONFIG_MAPS, DEPLOYMENTS, NAMESPACES, NODES, PODS, REPLICA_SETS, SERVICE_ACCOUNTS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import AlreadyExists, Forbidden, NotFound, UsageError
from hyperkube.testing.waiting import eventually


def config_map(name, namespace="default", **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace, **metadata}}


def deployment(name, replicas):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "any"}]}},
        },
    }


def gone(client, *where):
    try:
        client.get(*where)
    except NotFound:
        return True
    return False


def test_a_deployment_becomes_ready_on_a_simulated_node(hyperkube_cluster):
    client = hyperkube_cluster.client

    client.create(DEPLOYMENTS, deployment("web", 3), "default")

    hyperkube_cluster.wait(
        lambda: client.get(DEPLOYMENTS, "web", "default").get("status", {}).get("readyReplicas") == 3, "three pods"
    )
    assert {pod["spec"]["nodeName"] for pod in client.list(PODS, "default").items} == {"hollow-0"}


def test_deleting_a_namespace_completes(hyperkube_cluster):
    client = hyperkube_cluster.client
    client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short"}})
    client.create(CONFIG_MAPS, config_map("inside", "short"), "short")

    client.delete(NAMESPACES, "short")

    hyperkube_cluster.wait(lambda: gone(client, NAMESPACES, "short"), "the namespace to go")
    assert client.list(CONFIG_MAPS, "short").items == []


def test_what_is_owned_goes_with_its_owner(hyperkube_cluster):
    client = hyperkube_cluster.client
    owner = client.create(CONFIG_MAPS, config_map("owner"), "default")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    client.create(CONFIG_MAPS, config_map("owned", ownerReferences=[reference]), "default")

    client.delete(CONFIG_MAPS, "owner", "default")

    hyperkube_cluster.wait(lambda: gone(client, CONFIG_MAPS, "owned", "default"), "the owned one to go")


def test_deleting_a_deployment_takes_its_pods_along(hyperkube_cluster):
    client = hyperkube_cluster.client
    client.create(DEPLOYMENTS, deployment("web", 2), "default")
    hyperkube_cluster.wait(lambda: len(client.list(PODS, "default").items) == 2, "two pods")

    client.delete(DEPLOYMENTS, "web", "default", options={"propagationPolicy": "Foreground"})

    hyperkube_cluster.wait(
        lambda: (
            gone(client, DEPLOYMENTS, "web", "default")
            and not client.list(REPLICA_SETS, "default").items
            and not client.list(PODS, "default").items
        ),
        "everything to go",
    )


def test_every_new_namespace_has_its_service_account(hyperkube_cluster):
    client = hyperkube_cluster.client

    client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}})

    assert hyperkube_cluster.wait(lambda: client.get(SERVICE_ACCOUNTS, "default", "new"))


def test_two_side_by_side_share_nothing(hyperkube_cluster_factory):
    first, second = hyperkube_cluster_factory(), hyperkube_cluster_factory()

    first.client.create(CONFIG_MAPS, config_map("mine"), "default")

    with pytest.raises(AlreadyExists):
        first.client.create(CONFIG_MAPS, config_map("mine"), "default")
    assert gone(second.client, CONFIG_MAPS, "mine", "default")
    assert first.url != second.url


def test_one_goes_on_when_the_other_ends():
    with ControlPlane() as stays:
        with ControlPlane() as ends:
            ends.client.create(CONFIG_MAPS, config_map("there"), "default")

        stays.client.create(CONFIG_MAPS, config_map("here"), "default")

        assert stays.client.get(CONFIG_MAPS, "here", "default")


def test_it_leaves_no_thread_behind():
    before = set(threading.enumerate())

    with ControlPlane(hollow_nodes=1) as cluster:
        kubeconfig = cluster.kubeconfig
        assert kubeconfig.exists()

    # A writer of events looks once more for the next one before it ends.
    eventually(lambda: not [thread.name for thread in threading.enumerate() if thread not in before])
    assert not kubeconfig.parent.exists()


def test_other_users_may_only_do_what_roles_allow(hyperkube_cluster):
    with pytest.raises(Forbidden, match='User "eve" cannot list resource "nodes"'):
        hyperkube_cluster.client_for("eve").list(NODES)


def test_a_client_of_any_kind_can_connect(hyperkube_cluster):
    trust = ssl.create_default_context(cafile=str(hyperkube_cluster.ca_file))
    request = urllib.request.Request(
        f"{hyperkube_cluster.url}/api/v1/nodes", headers={"Authorization": f"Bearer {hyperkube_cluster.token}"}
    )

    with urllib.request.urlopen(request, context=trust) as answer:
        assert b'"hollow-0"' in answer.read()


def test_the_kubernetes_package_works_with_its_kubeconfig(hyperkube_cluster):
    from kubernetes import client, config

    api = client.CoreV1Api(config.new_client_from_config(str(hyperkube_cluster.kubeconfig)))

    assert [node.metadata.name for node in api.list_node().items] == ["hollow-0"]
    api.api_client.close()


def test_time_stands_still_until_the_test_moves_it(hyperkube_cluster_factory):
    clock = FakeClock()
    cluster = hyperkube_cluster_factory(clock=clock)
    first = cluster.client.create(CONFIG_MAPS, config_map("first"), "default")

    clock.advance(3600)
    second = cluster.client.create(CONFIG_MAPS, config_map("second"), "default")

    assert first["metadata"]["creationTimestamp"] == "2030-01-01T00:00:00Z"
    assert second["metadata"]["creationTimestamp"] == "2030-01-01T01:00:00Z"


def test_parts_can_be_left_out(hyperkube_cluster_factory):
    cluster = hyperkube_cluster_factory(controller_manager=None, scheduler=None)

    names = [thread.name for thread in threading.enumerate()]

    assert cluster.client.list(NAMESPACES).items
    assert not [name for name in names if name.startswith("controller-")]


def test_a_plugin_that_is_not_installed_is_named(hyperkube_cluster_factory):
    with pytest.raises(UsageError, match="scheduler plugin 'Nowhere' is not installed"):
        hyperkube_cluster_factory(scheduler={"algorithm-provider": "Nowhere"})


@pytest.fixture
def mixed(hyperkube_cluster_factory):
    """A cluster with both kinds of nodes, and a running pod on each: ``real`` and ``simulated``."""
    pytest.importorskip("hyperkube_runtime.process", reason="runs pods")
    cluster = hyperkube_cluster_factory(hollow_nodes=1, process_node=True)
    script = ["sh", "-c", "echo hello; exec sleep 1000"]
    for name, image in (("real", "host"), ("simulated", "any")):
        container = {"name": "c", "image": image, "command": script}
        cluster.client.create(PODS, {"metadata": {"name": name}, "spec": {"containers": [container]}}, "default")
    cluster.wait(lambda: all(pod["status"]["phase"] == "Running" for pod in pods_of(cluster)), "running pods", 30.0)
    return cluster


def pods_of(cluster):
    return cluster.client.list(PODS, "default").items


def kubectl(cluster, *words):
    command = ["kubectl", "--kubeconfig", str(cluster.kubeconfig), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout, done.stderr


def test_pods_find_the_real_and_the_simulated_nodes_by_their_images(mixed):
    assert {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods_of(mixed)} == {
        "real": "process-0",
        "simulated": "hollow-0",
    }


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_a_real_node_has_logs_and_runs_commands_and_a_simulated_one_says_that_it_does_not(mixed):
    assert kubectl(mixed, "logs", "real") == ("hello\n", "")
    assert kubectl(mixed, "exec", "real", "--", "echo", "in") == ("in\n", "")
    for words in (("logs", "simulated"), ("exec", "simulated", "--", "true")):
        out, problem = kubectl(mixed, *words)
        assert out == ""
        assert "node 'hollow-0' is simulated: its containers run no program and have no output" in problem


def test_waiting_in_vain_says_for_what(hyperkube_cluster_factory):
    cluster = hyperkube_cluster_factory(controller_manager=None, scheduler=None)

    with pytest.raises(NotInTime, match=r"waited 0\.01 s in vain for rain"):
        cluster.wait(lambda: False, "rain", 0.01)
