"""Versions that Kubernetes has removed, over the handler of a whole API server: all verbs, and what they leave behind."""

from __future__ import annotations

import orjson
import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.client.client import APPLY_PATCH
from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS
from hyperkube.machinery.errors import Conflict
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

EXTENSIONS = GroupVersionResource("extensions", "v1beta1", "deployments")
INGRESSES = GroupVersionResource("extensions", "v1beta1", "ingresses")
NEW_INGRESSES = GroupVersionResource("networking.k8s.io", "v1", "ingresses")
OLD_CRDS = GroupVersionResource("apiextensions.k8s.io", "v1beta1", "customresourcedefinitions")
DEPLOYMENT_PATH = "/apis/extensions/v1beta1/namespaces/default/deployments"
MANIFEST = b"""
apiVersion: extensions/v1beta1
kind: Deployment
metadata:
  name: nginx
spec:
  replicas: 2
  template:
    metadata:
      labels:
        run: nginx
    spec:
      containers:
      - name: nginx
        image: nginx:1.9
        ports:
        - containerPort: 80
"""
"""A deployment as one wrote it for Kubernetes 1.2."""


def start(**runtime_config):
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options={**options, "runtime-config": runtime_config}, store=MemoryStore())
    server.start()
    return server


@pytest.fixture(scope="module")
def server():
    server = start(**{"api/legacy": "true"})
    yield server
    server.close()


@pytest.fixture
def client(server):
    client = server.client(LOOPBACK)
    yield client
    client.delete_collection(DEPLOYMENTS, "default")


def http(server, method, path, body=b"", **headers):
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    path, _, query = path.partition("?")
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return server.handler.handle(
        HttpRequest(method=method, path=path, query_string=query, headers=given, body=content, user=LOOPBACK)
    )


def body(answer):
    return orjson.loads(answer.body)


def test_a_manifest_of_old_is_applied_and_stored_as_today(server, client):
    answer = http(server, "POST", DEPLOYMENT_PATH, MANIFEST, content_type="application/yaml")

    assert answer.status == 201
    assert dict(answer.headers)["Warning"] == (
        '299 - "extensions/v1beta1 Deployment is deprecated in v1.8+, unavailable in v1.16+; use apps/v1 Deployment"'
    )
    made = body(answer)
    assert (made["apiVersion"], made["spec"]["progressDeadlineSeconds"]) == ("extensions/v1beta1", 2147483647)
    stored = server.registry.get(DEPLOYMENTS).stored().cache.get("default", "nginx")
    assert orjson.loads(stored.body)["apiVersion"] == "apps/v1"
    new = client.get(DEPLOYMENTS, "nginx", "default")
    assert new["spec"]["selector"] == {"matchLabels": {"run": "nginx"}}
    assert new["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 1}


def test_what_is_written_in_one_version_is_changed_in_another(server, client):
    http(server, "POST", DEPLOYMENT_PATH, MANIFEST, content_type="application/yaml")

    client.patch(EXTENSIONS, "nginx", {"spec": {"replicas": 5}}, "default")
    http(
        server,
        "PATCH",
        f"{DEPLOYMENT_PATH}/nginx",
        {"spec": {"template": {"spec": {"containers": [{"name": "nginx", "image": "nginx:1.25"}]}}}},
        content_type="application/strategic-merge-patch+json",
    )
    new = client.get(DEPLOYMENTS, "nginx", "default")
    client.update(DEPLOYMENTS, {**new, "spec": {**new["spec"], "paused": True}})

    old = client.get(EXTENSIONS, "nginx", "default")
    assert (old["spec"]["replicas"], old["spec"]["paused"], old["metadata"]["generation"]) == (5, True, 4)
    assert new["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.25"
    assert [obj["apiVersion"] for obj in client.list(EXTENSIONS, "default").items] == ["extensions/v1beta1"]


def test_applying_again_in_the_old_version_changes_nothing(server, client):
    path = f"{DEPLOYMENT_PATH}/nginx?fieldManager=me"

    first = http(server, "PATCH", path, MANIFEST, content_type="application/apply-patch+yaml")
    again = http(server, "PATCH", path, MANIFEST, content_type="application/apply-patch+yaml")

    assert (first.status, again.status) == (201, 200)
    assert body(again)["metadata"]["resourceVersion"] == body(first)["metadata"]["resourceVersion"]


def test_owners_of_one_version_are_respected_in_another(client):
    def applied(backend, manager, **more):
        config = {"kind": "Ingress", "metadata": {"name": "owned"}, **backend}
        resource = INGRESSES if config["apiVersion"].startswith("extensions") else NEW_INGRESSES
        return client.patch(resource, "owned", config, "default", patch_type=APPLY_PATCH, field_manager=manager, **more)

    def old(name):
        return {"apiVersion": "extensions/v1beta1", "spec": {"backend": {"serviceName": name, "servicePort": 80}}}

    def new(name):
        service = {"name": name, "port": {"number": 80}}
        return {"apiVersion": "networking.k8s.io/v1", "spec": {"defaultBackend": {"service": service}}}

    applied(old("a"), "first")
    with pytest.raises(Conflict, match=r'conflict with "first": \.spec\.backend\.serviceName'):
        applied(new("b"), "second")
    applied(new("b"), "second", force=True)
    left = applied({"apiVersion": "networking.k8s.io/v1", "spec": {"rules": [{"host": "x"}]}}, "first")

    assert left["spec"]["defaultBackend"]["service"]["name"] == "b"
    owners = {entry["manager"]: entry["fieldsV1"]["f:spec"] for entry in left["metadata"]["managedFields"]}
    assert "f:defaultBackend" in owners["second"]
    assert owners["first"] == {"f:rules": {}}


def test_a_watch_of_the_old_version_sees_what_the_new_one_wrote(client):
    watch = client.watch(EXTENSIONS, "default", resource_version="0")
    labels = {"a": "b"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }

    client.create(DEPLOYMENTS, {"metadata": {"name": "new"}, "spec": spec}, "default")

    event = next(iter(watch))
    watch.close()
    assert (event.type, event.object["apiVersion"]) == ("ADDED", "extensions/v1beta1")


def test_scale_and_status_are_there_in_the_versions_own_words(server, client):
    http(server, "POST", DEPLOYMENT_PATH, MANIFEST, content_type="application/yaml")

    scale = body(http(server, "GET", f"{DEPLOYMENT_PATH}/nginx/scale"))
    scale["spec"]["replicas"] = 7
    scaled = http(server, "PUT", f"{DEPLOYMENT_PATH}/nginx/scale", scale, content_type="application/json")
    status = client.update(
        EXTENSIONS, {**client.get(EXTENSIONS, "nginx", "default"), "status": {"replicas": 7}}, subresource="status"
    )

    assert scale["apiVersion"] == "extensions/v1beta1"
    assert scale["status"]["selector"] == {"run": "nginx"}
    assert scale["status"]["targetSelector"] == "run=nginx"
    assert scaled.status == 200, scaled.body
    assert client.get(DEPLOYMENTS, "nginx", "default")["spec"]["replicas"] == 7
    assert (status["apiVersion"], status["status"]["replicas"]) == ("extensions/v1beta1", 7)


@pytest.mark.parametrize("version", ["extensions/v1beta1", "apps/v1beta1"])
def test_a_rollback_is_a_wish_that_the_deployment_bears(server, client, version):
    path = f"/apis/{version}/namespaces/default/deployments"
    name = f"back-{version.partition('/')[0]}"
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = {"apiVersion": version, "kind": "Deployment", "metadata": {"name": name}, "spec": {"template": template}}
    assert http(server, "POST", path, made).status == 201
    wish = {"apiVersion": version, "kind": "DeploymentRollback", "name": name, "rollbackTo": {"revision": 2}}

    answer = http(server, "POST", f"{path}/{name}/rollback", {**wish, "updatedAnnotations": {"why": "bad"}})

    assert answer.status == 201
    assert body(answer) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "message": f'rollback request for deployment "{name}" succeeded',
        "code": 200,
    }
    now = client.get(DEPLOYMENTS, name, "default")
    assert now["metadata"]["annotations"] == {"why": "bad", "deprecated.deployment.rollback.to": "2"}
    assert body(http(server, "GET", f"{path}/{name}"))["spec"]["rollbackTo"] == {"revision": 2}


@pytest.mark.parametrize(
    ("wish", "status", "message"),
    [
        ({"name": "other"}, 400, "name in URL does not match name in DeploymentRollback object"),
        ({}, 422, 'DeploymentRollback.apps "" is invalid: name: Required value: name is required'),
        (
            {"name": "none", "rollbackTo": {"revision": -1}},
            422,
            (
                'DeploymentRollback.apps "none" is invalid: rollback.version: Invalid value: -1: '
                "must be greater than or equal to 0"
            ),
        ),
        ({"name": "none"}, 404, 'deployments.apps "none" not found'),
    ],
    ids=["another's", "nobody's", "below 0", "missing"],
)
def test_a_rollback_that_makes_no_sense_is_refused(server, wish, status, message):
    path = "/apis/extensions/v1beta1/namespaces/default/deployments/none/rollback"

    answer = http(server, "POST", path, {"apiVersion": "extensions/v1beta1", "kind": "DeploymentRollback", **wish})

    assert (answer.status, body(answer)["message"]) == (status, message)


def test_a_table_looks_as_the_new_versions(server, client):
    http(server, "POST", DEPLOYMENT_PATH, MANIFEST, content_type="application/yaml")
    as_table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

    old = body(http(server, "GET", DEPLOYMENT_PATH, accept=as_table))
    new = body(http(server, "GET", "/apis/apps/v1/namespaces/default/deployments", accept=as_table))

    columns, rows = ([each["name"] for each in table["columnDefinitions"]] for table in (old, new)), []
    for names, table in zip(columns, (old, new), strict=True):
        rows.append(dict(zip(names, table["rows"][0]["cells"], strict=True)))
        assert rows[-1].pop("Age")  # a second may pass in between
    assert list(rows[0].items()) == list(rows[1].items())


def test_an_ingress_is_shown_in_either_shape(client):
    backend = {"serviceName": "web", "servicePort": 80}
    spec = {"rules": [{"host": "a.example.com", "http": {"paths": [{"path": "/", "backend": backend}]}}]}

    client.create(INGRESSES, {"metadata": {"name": "i"}, "spec": spec}, "default")

    new, old = client.get(NEW_INGRESSES, "i", "default"), client.get(INGRESSES, "i", "default")
    assert new["spec"]["rules"][0]["http"]["paths"][0] == {
        "path": "/",
        "pathType": "ImplementationSpecific",
        "backend": {"service": {"name": "web", "port": {"number": 80}}},
    }
    assert old["spec"]["rules"][0]["http"]["paths"][0]["backend"] == backend


def test_a_definition_of_old_needs_no_schema(client):
    spec = {"group": "example.com", "version": "v1", "names": {"plural": "toys", "kind": "Toy"}}

    client.create(OLD_CRDS, {"metadata": {"name": "toys.example.com"}, "spec": spec})

    new = client.get(CUSTOM_RESOURCE_DEFINITIONS, "toys.example.com")
    assert new["spec"]["versions"] == [{"name": "v1", "served": True, "storage": True}]
    assert client.get(OLD_CRDS, "toys.example.com")["spec"]["version"] == "v1"


def test_discovery_and_openapi_tell_of_the_old_versions(server):
    listed = body(http(server, "GET", "/apis/extensions/v1beta1"))
    apps = body(http(server, "GET", "/apis/apps"))
    document = body(http(server, "GET", "/openapi/v3/apis/extensions/v1beta1"))
    whole = body(http(server, "GET", "/openapi/v2"))

    names = {resource["name"] for resource in listed["resources"]}
    assert {"deployments", "deployments/scale", "ingresses", "networkpolicies", "replicasets"} <= names
    assert apps["preferredVersion"]["version"] == "v1"
    assert [version["version"] for version in apps["versions"]] == ["v1", "v1beta2", "v1beta1"]
    kinds = document["components"]["schemas"]["io.k8s.api.extensions.v1beta1.Deployment"][
        "x-kubernetes-group-version-kind"
    ]
    assert kinds == [{"group": "extensions", "kind": "Deployment", "version": "v1beta1"}]
    assert "io.k8s.api.extensions.v1beta1.Ingress" in whole["definitions"]


def test_every_list_of_every_old_version_is_answered(server):
    legacy = [served for served in server.registry.resources() if served.converts and served.spec.deprecated]

    for served in legacy:
        answer = http(server, "GET", served.spec.resource.path(""))
        assert answer.status == 200, (served, answer.body)
        assert body(answer)["apiVersion"] == served.kind.api_version
    assert len(legacy) > 30


def test_nothing_of_it_is_there_unless_it_is_asked_for():
    server = start(**{"extensions/v1beta1": "true"})
    plain = start()

    try:
        assert http(server, "GET", "/apis/extensions/v1beta1/deployments").status == 200
        assert http(server, "GET", "/apis/apps/v1beta1/deployments").status == 404
        assert http(plain, "GET", "/apis/extensions/v1beta1/deployments").status == 404
    finally:
        server.close()
        plain.close()
