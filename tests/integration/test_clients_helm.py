"""What Helm asks of a server, request by request: its storage, its three-way patches, its waits and its hooks.

Source: helm ``pkg/storage/driver/secrets.go``, ``pkg/kube/{client,ready}.go``, ``pkg/action``.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_objects import GROUP, custom, definition, deployment, pod, served_cluster

kubernetes = pytest.importorskip("kubernetes", reason="the Python client 'kubernetes' is not installed")
from hyperkube_lib.protobuf import MEDIA_TYPE, Protobuf  # noqa: E402
from kubernetes import client, config, dynamic, watch  # noqa: E402  only where it is installed

from hyperkube.machinery.schema import compile_schema  # noqa: E402

pytestmark = pytest.mark.slow

TYPE = "helm.sh/release.v1"
STRATEGIC, MERGE = "application/strategic-merge-patch+json", "application/merge-patch+json"


@pytest.fixture(scope="module")
def cluster():
    with served_cluster() as running:
        yield running


@pytest.fixture(scope="module")
def api(cluster):
    with config.new_client_from_config(str(cluster.kubeconfig)) as connected:
        yield connected


@pytest.fixture
def core(api):
    return client.CoreV1Api(api)


@pytest.fixture
def apps(api):
    return client.AppsV1Api(api)


def packed(release):
    """Return a release as Helm stores it: JSON, compressed, as text."""
    return base64.b64encode(gzip.compress(json.dumps(release).encode())).decode()


def unpacked(secret):
    return json.loads(gzip.decompress(base64.b64decode(base64.b64decode(secret.data["release"]))))


def release_secret(name, version, status, manifest=""):
    release = {"name": name, "version": version, "info": {"status": status}, "manifest": manifest}
    labels = {"name": name, "owner": "helm", "status": status, "version": str(version), "modifiedAt": "1767323045"}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"sh.helm.release.v1.{name}.v{version}", "namespace": "default", "labels": labels},
        "type": TYPE,
        "data": {"release": base64.b64encode(packed(release).encode()).decode()},
    }


def refusal(refused):
    status = json.loads(refused.value.body)
    return status["code"], status["reason"], status["message"]


def test_releases_are_kept_in_secrets_and_found_by_label(core):
    for version, status in ((1, "superseded"), (2, "deployed")):
        core.create_namespaced_secret("default", release_secret("web", version, status), field_manager="helm")

    deployed = core.list_namespaced_secret("default", label_selector="name=web,owner=helm,status=deployed").items
    history = core.list_secret_for_all_namespaces(label_selector="owner=helm,name=web").items

    assert [unpacked(secret)["version"] for secret in deployed] == [2]
    assert {secret.metadata.labels["version"] for secret in history} == {"1", "2"}
    assert {secret.type for secret in history} == {TYPE}
    with pytest.raises(client.ApiException) as taken:
        core.create_namespaced_secret("default", release_secret("web", 2, "deployed"))
    name = "sh.helm.release.v1.web.v2"
    assert refusal(taken) == (409, "AlreadyExists", f'secrets "{name}" already exists')
    with pytest.raises(client.ApiException) as missing:
        core.read_namespaced_secret("sh.helm.release.v1.web.v3", "default")
    assert refusal(missing) == (404, "NotFound", 'secrets "sh.helm.release.v1.web.v3" not found')
    core.replace_namespaced_secret(name, "default", release_secret("web", 2, "superseded"))
    assert not core.list_namespaced_secret("default", label_selector="name=web,status=deployed").items


def test_the_type_of_a_stored_release_stays(core):
    core.create_namespaced_secret("default", release_secret("fixed", 1, "deployed"))

    with pytest.raises(client.ApiException) as refused:
        core.replace_namespaced_secret(
            "sh.helm.release.v1.fixed.v1", "default", {**release_secret("fixed", 1, "deployed"), "type": "Opaque"}
        )

    assert "type: Invalid value" in refusal(refused)[2]
    assert "field is immutable" in refusal(refused)[2]


def test_a_release_may_come_in_protobuf(cluster, core):
    secret = release_secret("binary", 1, "deployed")
    schema = compile_schema("hyperkube_api.core.v1:Secret")

    path = "/api/v1/namespaces/default/secrets?fieldManager=helm"
    body = Protobuf().encode(schema.decode(secret)[0] | {"apiVersion": "v1", "kind": "Secret"}, schema)
    answer = cluster.client.request("POST", path, body=body, headers={"content-type": MEDIA_TYPE})

    assert answer.status == 201, answer.body
    stored = core.read_namespaced_secret("sh.helm.release.v1.binary.v1", "default")
    assert unpacked(stored)["name"] == "binary"
    assert stored.metadata.managed_fields[0].manager == "helm"


def test_a_manifest_is_checked_by_the_server(cluster, api):
    version = client.VersionApi(api).get_code()
    described = json.loads(cluster.client.request("GET", "/openapi/v3/apis/apps/v1").body)
    patch = described["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert "fieldValidation" in {row["name"] for row in patch["parameters"]}
    assert patch["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert (version.major, version.minor) == ("1", "36")
    odd = deployment("odd", 0)
    odd["spec"]["template"]["spec"]["contaners"] = []

    path = "/apis/apps/v1/namespaces/default/deployments?fieldValidation=Strict&dryRun=All"
    refused = cluster.client.request("POST", path, body=json.dumps(odd).encode())

    assert refused.status == 400
    assert 'unknown field "spec.template.spec.contaners"' in json.loads(refused.body)["message"]


def test_an_upgrade_keeps_what_others_changed(apps):
    first = deployment("chart", 1)
    container = first["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "OLD", "value": "1"}, {"name": "KEPT", "value": "1"}]
    apps.create_namespaced_deployment("default", first, field_manager="helm")
    apps.patch_namespaced_deployment("chart", "default", {"metadata": {"annotations": {"by": "somebody"}}})
    apps.patch_namespaced_deployment_scale("chart", "default", {"spec": {"replicas": 3}})
    changed = {
        "name": "main",
        "$setElementOrder/env": [{"name": "KEPT"}, {"name": "NEW"}],
        "env": [{"name": "NEW", "value": "2"}, {"name": "OLD", "$patch": "delete"}],
    }
    patch = {
        "spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "main"}], "containers": [changed]}}}
    }

    patched = apps.patch_namespaced_deployment("chart", "default", patch, field_manager="helm", _content_type=STRATEGIC)

    env = [(row.name, row.value) for row in patched.spec.template.spec.containers[0].env]
    assert env == [("KEPT", "1"), ("NEW", "2")]
    assert patched.spec.replicas == 3
    assert patched.metadata.annotations["by"] == "somebody"


def test_custom_objects_are_upgraded_with_merge_patches(cluster, api):
    anything = dynamic.DynamicClient(api)
    definitions = anything.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition")
    definitions.create(body=definition("Widget"))

    def established():
        found = definitions.get(name=f"widgets.{GROUP}").status.conditions or ()
        return {(row.type, row.status) for row in found} >= {("Established", "True"), ("NamesAccepted", "True")}

    cluster.wait(established, "the definition")
    anything.resources.invalidate_cache()
    widgets = anything.resources.get(api_version=f"{GROUP}/v1", kind="Widget")
    widgets.create(body=custom("Widget", "one", colour="blue", replicas=1), namespace="default")

    body = {"spec": {"colour": None, "replicas": 2}}
    patched = widgets.patch(name="one", namespace="default", body=body, content_type=MERGE)
    with pytest.raises(dynamic.exceptions.DynamicApiError) as refused:
        widgets.patch(name="one", namespace="default", body=body, content_type=STRATEGIC)

    assert patched.spec.to_dict() == {"replicas": 2}
    assert refused.value.status == 415


def test_waiting_sees_every_kind_ready(cluster, core, apps):
    apps.create_namespaced_deployment("default", deployment("waited", 2))
    core.create_namespaced_service(
        "default", {"metadata": {"name": "waited"}, "spec": {"selector": {"app": "waited"}, "ports": [{"port": 80}]}}
    )

    def ready():
        found = apps.read_namespaced_deployment("waited", "default")
        status = found.status
        return status.observed_generation == found.metadata.generation and (status.updated_replicas or 0) == 2 == (
            status.ready_replicas or 0
        )

    cluster.wait(ready, "the deployment", 30)
    (current,) = apps.list_namespaced_replica_set("default", label_selector="app=waited").items
    assert current.status.ready_replicas == 2
    pods = core.list_namespaced_pod("default", label_selector="app=waited").items
    assert all(row.status == "True" for one in pods for row in one.status.conditions if row.type == "Ready")
    assert core.read_namespaced_service("waited", "default").spec.cluster_ip


def test_a_hook_is_watched_to_its_end(core):
    hook = pod("hook")
    hook["spec"]["schedulerName"] = "nobody"
    made = core.create_namespaced_pod("default", hook)
    done = {"status": {"phase": "Succeeded"}}
    timer = threading.Timer(0.2, lambda: core.patch_namespaced_pod_status("hook", "default", done))
    timer.start()

    phases = []
    for event in watch.Watch().stream(
        core.list_namespaced_pod,
        "default",
        field_selector="metadata.name=hook",
        resource_version=made.metadata.resource_version,
        timeout_seconds=30,
    ):
        phases.append(event["object"].status.phase)
        if phases[-1] == "Succeeded":
            break
    timer.join()
    core.delete_namespaced_pod("hook", "default", propagation_policy="Background", grace_period_seconds=0)

    assert phases[-1] == "Succeeded"
    with pytest.raises(client.ApiException) as gone:
        core.read_namespaced_pod("hook", "default")
    assert gone.value.status == 404


def test_an_uninstall_takes_everything_along(cluster, api, core, apps):
    apps.create_namespaced_deployment("default", deployment("going", 1))
    core.create_namespaced_secret("default", release_secret("going", 1, "deployed"))
    cluster.wait(lambda: core.list_namespaced_pod("default", label_selector="app=going").items, "the pod")

    answer = apps.delete_namespaced_deployment("going", "default", propagation_policy="Background")
    core.delete_namespaced_secret("sh.helm.release.v1.going.v1", "default")

    told = api.sanitize_for_serialization(answer)
    assert (told["kind"], told["status"], told["details"]["kind"]) == ("Status", "Success", "deployments")
    cluster.wait(lambda: not core.list_namespaced_pod("default", label_selector="app=going").items, "its end", 30)
    with pytest.raises(client.ApiException) as gone:
        apps.delete_namespaced_deployment("going", "default", propagation_policy="Background")
    assert refusal(gone) == (404, "NotFound", 'deployments.apps "going" not found')
