"""Small facts of the wire that clients meet: patches, scales, tables, warnings and deletions, over the whole server."""

import threading

import orjson
import pytest
from hyperkube_host.apiserver.rest import patched_part
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import DEPLOYMENTS, JOBS, PODS
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.apps", reason="needs the API groups")

APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/d"
REFUSED = 'Operation cannot be fulfilled on deployments.apps "d"'
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}


def http(server, method, path, body=b"", query="", kind="application/json", accept=""):
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = {"content-type": kind, "accept": accept, "user-agent": "tester"}
    request = HttpRequest(method=method, path=path, query_string=query, headers=headers, body=content, user=LOOPBACK)
    return server.handler.handle(request)


def warnings(answer):
    return [value for name, value in answer.headers if name == "Warning"]


@pytest.fixture
def deployment(server):
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    http(server, "POST", DEPLOYMENT.removesuffix("/d"), body, query="fieldManager=maker")
    client = server.client(LOOPBACK)
    yield client
    client.delete(DEPLOYMENTS, "d", "default")


def owners_of_replicas(client):
    entries = client.get(DEPLOYMENTS, "d", "default")["metadata"]["managedFields"]
    return [
        (entry["manager"], entry.get("subresource", ""))
        for entry in entries
        if "f:replicas" in entry["fieldsV1"].get("f:spec", {})
    ]


def scale(replicas):
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": replicas}}


def test_whoever_scales_owns_the_replicas(server, deployment):
    answer = http(server, "PUT", f"{DEPLOYMENT}/scale", scale(3), query="fieldManager=scaler")

    assert answer.status == 200
    assert owners_of_replicas(deployment) == [("scaler", "scale")]


def test_applying_to_a_scale_conflicts_with_the_owner_of_the_replicas(server, deployment):
    query = "fieldManager=hpa"

    refused = http(server, "PATCH", f"{DEPLOYMENT}/scale", scale(4), query=query, kind=APPLY)
    forced = http(server, "PATCH", f"{DEPLOYMENT}/scale", scale(4), query=f"{query}&force=true", kind=APPLY)

    assert refused.status == 409
    assert orjson.loads(refused.body)["details"]["causes"][0]["field"] == ".spec.replicas"
    assert orjson.loads(forced.body)["spec"] == {"replicas": 4}
    assert owners_of_replicas(deployment) == [("hpa", "scale")]


@pytest.fixture
def race(server, deployment, monkeypatch):
    """Let another write come between the reads and the writes of requests, as often as told; return what to tell."""
    times = []

    def check_name(obj, name):
        if times:
            times.pop()
            deployment.patch(DEPLOYMENTS, "d", {"metadata": {"annotations": {"left": str(len(times))}}}, "default")
        part_check(obj, name)

    part_check = patched_part.check_name
    monkeypatch.setattr(patched_part, "check_name", check_name)
    return times


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        pytest.param(MERGE, {"spec": {"replicas": 5}}, id="merge"),
        pytest.param("application/json-patch+json", [{"op": "add", "path": "/spec/replicas", "value": 5}], id="json"),
        pytest.param(APPLY, scale(5), id="apply"),
    ],
)
def test_a_patch_of_a_scale_outlasts_other_writes(server, deployment, race, kind, patch):
    race += range(7)

    query = "fieldManager=scaler" + ("&force=true" if kind == APPLY else "")
    answer = http(server, "PATCH", f"{DEPLOYMENT}/scale", patch, query=query, kind=kind)

    assert answer.status == 200
    assert race == []
    assert deployment.get(DEPLOYMENTS, "d", "default")["spec"]["replicas"] == 5


def test_a_patch_of_a_scale_that_names_a_version_wants_that_one(server, deployment, race):
    version = deployment.get(DEPLOYMENTS, "d", "default")["metadata"]["resourceVersion"]
    race += [0]
    patch = {"metadata": {"resourceVersion": version}, "spec": {"replicas": 5}}

    answer = http(server, "PATCH", f"{DEPLOYMENT}/scale", patch, kind=MERGE)

    assert answer.status == 409
    assert deployment.get(DEPLOYMENTS, "d", "default")["spec"]["replicas"] == 1


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@pytest.mark.parametrize(
    ("accept", "status"),
    [pytest.param(TABLE, 406, id="only"), pytest.param(f"{TABLE},application/json", 201, id="or-json")],
)
def test_reviews_are_not_shown_as_tables(server, accept, status):
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    body["spec"] = {"resourceAttributes": {"verb": "list", "resource": "pods"}}

    answer = http(server, "POST", REVIEWS, body, accept=accept)

    assert answer.status == status
    assert orjson.loads(answer.body)["kind"] == ("Status" if status == 406 else "SelfSubjectAccessReview")


def test_a_patch_with_a_key_twice_is_warned_of_or_refused(server, deployment):
    body = b'{"metadata": {"labels": {"x": "1", "x": "2"}}}'

    warned = http(server, "PATCH", DEPLOYMENT, body, kind=MERGE)
    refused = http(server, "PATCH", DEPLOYMENT, body, query="fieldValidation=Strict", kind=MERGE)

    assert warnings(warned) == ['299 - "duplicate field \\"metadata.labels.x\\""']
    assert refused.status == 422
    assert 'strict decoding error: duplicate field "metadata.labels.x"' in orjson.loads(refused.body)["message"]


def test_unknown_fields_of_a_patch_are_told_in_the_order_of_the_patched_document(server, deployment):
    patch = {"spec": {"nope": 1}, "bogus": 1}

    refused = http(server, "PATCH", DEPLOYMENT, patch, query="fieldValidation=Strict", kind=MERGE)

    assert orjson.loads(refused.body)["message"].endswith('unknown field "bogus", unknown field "spec.nope"')


def test_another_uid_is_a_conflict_before_anything_else(server, deployment):
    found = orjson.loads(http(server, "GET", DEPLOYMENT).body)
    del found["metadata"]["resourceVersion"]
    found["metadata"]["uid"] = "x"

    refused = http(server, "PUT", DEPLOYMENT, found)

    assert "Precondition failed: UID in precondition: x" in orjson.loads(refused.body)["message"]


def test_a_dry_run_may_name_a_version_of_what_it_creates(server):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "resourceVersion": "5"}}
    path = "/api/v1/namespaces/default/configmaps"

    assert http(server, "POST", path, body, query="dryRun=All").status == 201
    assert http(server, "POST", path, body).status == 500


def test_a_strategic_patch_of_another_shape_is_refused_in_the_converters_words(server, deployment):
    answer = http(server, "PATCH", DEPLOYMENT, {"spec": "x"}, kind=STRATEGIC)

    assert orjson.loads(answer.body)["message"].endswith("cannot restore struct from: string")


def test_a_field_that_is_not_declared_fails_an_apply_in_every_mode(server, deployment):
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "nope": 1}

    for mode in ("Ignore", "Warn", "Strict"):
        answer = http(server, "PATCH", DEPLOYMENT, body, query=f"fieldManager=m&fieldValidation={mode}", kind=APPLY)
        assert answer.status == 500
        assert orjson.loads(answer.body)["message"].endswith(".nope: field not declared in schema")


@pytest.mark.parametrize(
    ("meta", "status", "message"),
    [
        (
            {"name": "d", "uid": "u"},
            409,
            f"{REFUSED}: uid mismatch: the provided object specified uid u, and no existing object was found",
        ),
        (
            {"generateName": "d-"},
            400,
            "the name of the object (d based on URL) was undeterminable: name must be provided",
        ),
        ({"name": "e"}, 400, "the name of the object (e) does not match the name on the URL (d)"),
        ({"name": "d", "resourceVersion": "5"}, 404, 'deployments.apps "d" not found'),
    ],
    ids=["uid", "no-name", "other-name", "version"],
)
def test_an_apply_that_creates_names_the_object_and_no_other(server, meta, status, message):
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta}

    answer = http(server, "PATCH", DEPLOYMENT, body, query="fieldManager=m", kind=APPLY)

    assert (answer.status, orjson.loads(answer.body)["message"]) == (status, message)


def test_an_update_can_neither_begin_a_deletion_nor_change_the_birthday(server, deployment):
    begun = http(server, "PATCH", DEPLOYMENT, {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}, kind=MERGE)
    born = http(server, "PATCH", DEPLOYMENT, {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}, kind=MERGE)

    assert begun.status == 422
    assert born.status == 200
    assert not orjson.loads(born.body)["metadata"]["creationTimestamp"].startswith("2020")


def test_annotations_of_one_version_are_not_in_partial_objects(server):
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}
    body = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "ds"}, "spec": spec}
    made = orjson.loads(http(server, "POST", path, body).body)

    answer = http(server, "GET", f"{path}/ds", accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")

    assert "deprecated.daemonset.template.generation" in made["metadata"]["annotations"]
    assert "annotations" not in orjson.loads(answer.body)["metadata"]


def test_deleting_a_job_without_a_word_about_its_pods_warns(server):
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
    template = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    client = server.client(LOOPBACK)
    jobs = "/apis/batch/v1/namespaces/default/jobs"

    client.create(JOBS, {**body, "spec": {"template": template}}, "default")
    told = http(server, "DELETE", f"{jobs}/j", query="propagationPolicy=Background&dryRun=All")
    untold = http(server, "DELETE", f"{jobs}/j", query="dryRun=All")

    assert warnings(told) == []
    assert "child pods are preserved by default" in warnings(untold)[0]


def test_an_eviction_of_the_old_version_is_still_taken(server):
    client = server.client(LOOPBACK)
    client.create(
        PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": TEMPLATE["spec"]}, "default"
    )
    body = {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "p"}}

    answer = http(server, "POST", "/api/v1/namespaces/default/pods/p/eviction", body)

    assert answer.status == 201
    with pytest.raises(NotFound):
        client.get(PODS, "p", "default")


def test_every_cluster_begins_with_the_levels_of_its_components(server):
    path = "/apis/flowcontrol.apiserver.k8s.io/v1"

    levels = orjson.loads(http(server, "GET", f"{path}/prioritylevelconfigurations").body)["items"]
    schemas = orjson.loads(http(server, "GET", f"{path}/flowschemas").body)["items"]

    assert len(levels) == 8
    assert {schema["spec"]["priorityLevelConfiguration"]["name"] for schema in schemas} <= {
        level["metadata"]["name"] for level in levels
    }
    assert {schema["status"]["conditions"][0]["status"] for schema in schemas} == {"False"}


def test_a_schema_without_its_level_dangles(server):
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    spec = {"priorityLevelConfiguration": {"name": "nowhere"}}
    body = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": "x"}}

    made = orjson.loads(http(server, "POST", path, {**body, "spec": spec}).body)

    assert made["status"]["conditions"][0]["reason"] == "NotFound"


def test_an_operator_sees_flags_and_threads_but_not_in_the_index(server):
    flags = orjson.loads(http(server, "GET", "/configz").body)
    threads = http(server, "GET", "/debug/pprof/goroutine").body
    index = orjson.loads(http(server, "GET", "/").body)["paths"]

    assert flags["apiserver"]["authorization-mode"] == ["AlwaysAllow"]
    assert threading.current_thread().name.encode() in threads  # the others may rest, and then have no thread
    assert not [path for path in index if path.startswith(("/debug", "/configz"))]
