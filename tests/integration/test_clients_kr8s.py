"""The clients kr8s and lightkube work on our API: objects, custom ones too, patches, conditions and watches."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_objects import GROUP, custom, definition, deployment, pod, served_cluster

from hyperkube.testing.waiting import eventually

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster():
    with served_cluster() as running:
        yield running


@pytest.fixture(scope="module")
def kr8s():
    return pytest.importorskip("kr8s", reason="the client 'kr8s' is not installed")


@pytest.fixture(scope="module")
def api(cluster, kr8s):
    from kr8s._async_utils import Portal

    with warnings.catch_warnings():
        # It warns of servers that are newer than itself.
        warnings.filterwarnings("ignore", "Kubernetes version .* is not supported", UserWarning)
        connected = kr8s.api(kubeconfig=str(cluster.kubeconfig), namespace="default")
    yield connected
    Portal().call(connected._session.aclose)


@pytest.fixture(scope="module")
def gadget(api, kr8s):
    """Return the class of a custom kind."""
    from kr8s.objects import CustomResourceDefinition, new_class

    made = CustomResourceDefinition(definition("Gadget"), api=api)
    made.create()
    # The conditions of a new one are null, as in Kubernetes, which kr8s cannot wait for.
    eventually(lambda: made.refresh() or made.status.conditions)
    made.wait("condition=Established", timeout=10)
    return new_class("Gadget", version=f"{GROUP}/v1", asyncio=False, namespaced=True, scalable=True)


def test_it_knows_who_it_is_and_what_is_served(api):
    assert api.version()["major"] == "1"
    assert api.whoami() == "admin"
    kinds = {(row["version"], row["kind"]) for row in api.api_resources()}
    assert {("v1", "Pod"), ("apps/v1", "Deployment")} <= kinds


def test_a_pod_becomes_ready(api):
    from kr8s.objects import Pod

    made = Pod(pod("ready", colour="blue"), api=api)
    made.create()

    made.wait("condition=Ready", timeout=10)

    assert made.ready()
    assert Pod.get("ready", namespace="default", api=api).status.phase == "Running"
    assert [found.name for found in api.get("pods", label_selector={"colour": "blue"})] == ["ready"]
    assert [found.name for found in api.get("po", field_selector="status.phase=Running,metadata.name=ready")] == [
        "ready"
    ]


def test_labels_annotations_and_patches_change_an_object(api):
    from kr8s.objects import Pod

    made = Pod(pod("changed"), api=api)
    made.create()

    made.label(colour="red")
    made.annotate(note="here")
    made.patch({"metadata": {"labels": {"size": "small"}}})
    made.patch([{"op": "replace", "path": "/spec/containers/0/image", "value": "newer"}], type="json")
    made.remove_label("colour")

    made.refresh()
    assert made.labels == {"size": "small"}
    assert made.annotations["note"] == "here"
    assert made.spec.containers[0].image == "newer"


def test_a_deployment_is_scaled_and_waited_for(api):
    from kr8s.objects import Deployment

    made = Deployment(deployment("scaled", 1), api=api)
    made.create()

    made.scale(3)
    made.wait("condition=Available", timeout=60)  # its jsonpath fails where the field is not there yet
    made.wait("jsonpath='{.status.readyReplicas}'=3", timeout=60)

    assert len(made.pods()) == 3
    made.delete(propagation_policy="Foreground")
    made.wait("delete", timeout=60)
    assert not made.exists()


def test_a_watch_tells_what_happens(api):
    from kr8s.objects import ConfigMap

    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "watched", "namespace": "default"}}
    made = ConfigMap({**body, "data": {"step": "one"}}, api=api)
    made.create()
    seen = []

    for kind, found in api.watch("configmaps", field_selector="metadata.name=watched"):
        seen.append((kind, found.data.step))
        if kind == "ADDED":
            made.patch({"data": {"step": "two"}})
        elif kind == "MODIFIED":
            made.delete()
        else:
            break

    assert seen == [("ADDED", "one"), ("MODIFIED", "two"), ("DELETED", "two")]


def test_errors_have_the_status_of_the_server(api, kr8s):
    from kr8s.objects import ConfigMap

    bad = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Not_A_Name", "namespace": "default"}}

    with pytest.raises(kr8s.ServerError) as refused:
        ConfigMap(bad, api=api).create()
    with pytest.raises(kr8s.NotFoundError):
        ConfigMap.get("never", namespace="default", api=api)

    assert "ConfigMap" in str(refused.value)


def test_custom_objects_are_objects_like_others(api, gadget):
    from kr8s.objects import Pod

    made = gadget(custom("Gadget", "mine", colour="blue", replicas=1), api=api)
    made.create()

    made.patch({"spec": {"colour": "red"}})
    made.patch({"status": {"conditions": [{"type": "Done", "status": "True"}]}}, subresource="status")
    made.wait("condition=Done", timeout=60)
    made.scale(2)

    (found,) = api.get(f"gadgets.{GROUP}")
    assert (found.spec.colour, found.spec.replicas) == ("red", 2)
    child = Pod(pod("owned"), api=api)
    child.create()
    made.adopt(child)
    child.refresh()
    made.delete()
    child.wait("delete", timeout=10)


@pytest.fixture(scope="module")
def lightkube(cluster):
    """Return a client of lightkube."""
    pytest.importorskip("lightkube", reason="the client 'lightkube' is not installed")
    from lightkube import Client, KubeConfig

    connected = Client(config=KubeConfig.from_file(str(cluster.kubeconfig)), field_manager="lightkube")
    yield connected
    connected._client._client.close()


def test_lightkube_creates_applies_patches_and_waits(lightkube):
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.apps_v1 import Deployment
    from lightkube.resources.core_v1 import ConfigMap, Pod
    from lightkube.types import PatchType

    lightkube.create(Deployment.from_dict(deployment("light", 2)))
    lightkube.wait(Deployment, "light", for_conditions=["Available"], namespace="default")

    assert len(list(lightkube.list(Pod, namespace="default", labels={"app": "light"}, chunk_size=1))) == 2
    applied = ConfigMap(
        apiVersion="v1", kind="ConfigMap", metadata=ObjectMeta(name="light", namespace="default"), data={"a": "b"}
    )
    lightkube.apply(applied)
    changed = lightkube.patch(ConfigMap, "light", {"data": {"a": "c"}}, patch_type=PatchType.MERGE)
    assert changed.data == {"a": "c"}
    lightkube.delete(Deployment, "light")


def test_lightkube_serves_a_generic_resource(lightkube, gadget):
    from lightkube.generic_resource import create_namespaced_resource

    kind = create_namespaced_resource(GROUP, "v1", "Gadget", "gadgets")
    made = lightkube.create(kind.from_dict(custom("Gadget", "generic", colour="blue")))

    made["status"] = {"phase": "Done"}
    lightkube.replace(kind.Status.from_dict(made.to_dict()))

    assert lightkube.get(kind, "generic")["status"] == {"phase": "Done"}
    for event, found in lightkube.watch(kind, namespace="default", fields={"metadata.name": "generic"}):
        assert (event, found["spec"]) == ("ADDED", {"colour": "blue"})
        break
