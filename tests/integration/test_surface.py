"""What clients rely on beneath their libraries: headers, formats, parameters and pages, over a real connection."""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_objects import GROUP, custom, definition
from hyperkube_lib.protobuf import open_envelope
from server_processes import configmap, eventually
from wire import JSON, MAPS, META, PROTOBUF, WIDGETS, YAML, wired

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    with wired(tmp_path_factory.mktemp("wire")) as wire:
        yield wire


ANSWERS = [
    (f"{MAPS}/one", JSON, 200, JSON),
    (f"{MAPS}/one", YAML, 200, YAML),
    (f"{MAPS}/one", PROTOBUF, 200, PROTOBUF),
    (f"{MAPS}/one", "*/*", 200, JSON),
    (f"{MAPS}/one", "application/*", 406, JSON),
    (f"{MAPS}/one", "text/html;q=0.9,application/json;q=0.1", 200, JSON),
    (f"{MAPS}/one", "text/html", 406, JSON),
    (f"{MAPS}/one", "application/cbor", 406, JSON),
    (f"{MAPS}/one", f"{JSON};as=Table;v=v1;{META}", 200, JSON),
    (f"{MAPS}/one", f"{JSON};as=Table;v=v2;{META}", 406, JSON),
    (f"{MAPS}/one", f"{PROTOBUF};as=Table;v=v1;{META}", 406, JSON),
    (f"{MAPS}/one", f"{PROTOBUF};as=Table;v=v1;{META},{JSON}", 200, JSON),
    (f"{MAPS}/one", f"{PROTOBUF};as=PartialObjectMetadata;v=v1;{META}", 200, PROTOBUF),
    (f"{MAPS}/one", f"{JSON};as=PartialObjectMetadataList;v=v1;{META}", 406, JSON),
    (MAPS, f"{PROTOBUF};as=PartialObjectMetadataList;v=v1;{META}", 200, PROTOBUF),
    (MAPS, f"{PROTOBUF};as=PartialObjectMetadataList;v=v1beta1;{META}", 200, PROTOBUF),
    (MAPS, f"{YAML};as=PartialObjectMetadataList;v=v1;{META}", 200, YAML),
    (MAPS, f"{JSON};as=PartialObjectMetadata;v=v1;{META}", 406, JSON),
    (f"{WIDGETS}/one", PROTOBUF, 406, PROTOBUF),
    (f"{WIDGETS}/one", f"{PROTOBUF},{JSON}", 200, JSON),
    (WIDGETS, PROTOBUF, 406, PROTOBUF),
    (f"{WIDGETS}/one", f"{PROTOBUF};as=PartialObjectMetadata;v=v1;{META}", 200, PROTOBUF),
    (WIDGETS, f"{PROTOBUF};as=PartialObjectMetadataList;v=v1;{META},{JSON}", 200, PROTOBUF),
    ("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", 200,
     "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"),
    ("/openapi/v3/apis/apps/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", 200,
     "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"),
    ("/apis", f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,{JSON}", 200,
     f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
    ("/version", "*/*", 200, JSON),
]  # fmt: skip


@pytest.mark.parametrize(("path", "accept", "status", "content"), ANSWERS)
def test_an_answer_has_the_form_that_is_accepted(wire, path, accept, status, content):
    answered, headers, body = wire.get(path, accept)

    assert (answered, headers["content-type"]) == (status, content)
    if content == PROTOBUF:
        shown = "Status" if status == 406 else accept.partition("as=")[2].partition(";")[0]
        assert open_envelope(body).kind == (shown or "ConfigMap")
    if status == 406:
        assert b"NotAcceptable" in body
        assert re.search(b"application/vnd.kubernetes.protobuf|is (not )?a list", body)


REFUSED = [
    ("POST", MAPS, "text/plain", b"{}", 415, "unknown format"),
    ("POST", MAPS, JSON, b"{", 400, "couldn't get version/kind|unexpected end|unexpected EOF"),
    ("POST", MAPS, JSON, b'{"apiVersion":"v1","kind":"Secret"}', 400, "Secret in version"),
    ("POST", MAPS, PROTOBUF, b"{}", 400, "does not appear to be a protobuf message"),
    ("POST", MAPS, JSON, b" " * (3 * 1024 * 1024 + 1), 413, "limit is 3145728"),
    ("PATCH", f"{MAPS}/one", "text/plain", b"{}", 415, "Unsupported Media Type"),
    ("PATCH", f"{MAPS}/one", JSON, b"{}", 415, "Unsupported Media Type"),
    ("PATCH", f"{WIDGETS}/one", "application/strategic-merge-patch+json", b"{}", 415, "application/merge-patch\\+json"),
    ("PATCH", f"{MAPS}/one", "application/json-patch+json", b"{}", 400, "json"),
    ("PATCH", f"{MAPS}/one", "application/json-patch+json",
     json.dumps([{"op": "test", "path": "/kind", "value": "ConfigMap"}] * 10001).encode(), 413, "10000"),
    ("PATCH", f"{MAPS}/one?fieldManager=me", "application/apply-patch+yaml", b"a: [", 400, "yaml"),
    ("DELETE", f"{MAPS}/one?propagationPolicy=Sometimes", None, None, 422, "propagationPolicy"),
    ("DELETE", f"{MAPS}/one?gracePeriodSeconds=soon", None, None, 400, "soon"),
    ("POST", f"{MAPS}?dryRun=Some", JSON, json.dumps(configmap("x")).encode(), 422, "dryRun"),
    ("POST", f"{MAPS}?fieldValidation=Maybe", JSON, json.dumps(configmap("x")).encode(), 422, "fieldValidation"),
    ("POST", f"{MAPS}?fieldManager={'m' * 129}", JSON, json.dumps(configmap("x")).encode(), 422, "fieldManager"),
    ("PATCH", f"{MAPS}/one?force=true", "application/merge-patch+json", b"{}", 422, "force"),
    ("PATCH", f"{MAPS}/one", "application/apply-patch+yaml", json.dumps(configmap("one")).encode(), 422, "fieldManager"),
    ("GET", f"{MAPS}?timeout=soon", None, None, 400, 'invalid timeout specified in the request URL - .*duration "soon"'),
    ("GET", f"{MAPS}?limit=some", None, None, 400, "some"),
    ("GET", f"{MAPS}?continue=x", None, None, 400, "continue"),
    ("GET", f"{MAPS}?labelSelector=a%20in%20(", None, None, 400, "unable to parse requirement"),
    ("GET", f"{MAPS}?fieldSelector=data.a%3Db", None, None, 400, '"data.a" is not a known field selector'),
    ("GET", f"{MAPS}?resourceVersionMatch=Exact", None, None, 422, "resourceVersionMatch"),
    ("GET", f"{MAPS}?resourceVersion=soon", None, None, 400, "soon"),
    ("GET", f"{MAPS}?watch=1&sendInitialEvents=true", None, None, 422, "sendInitialEvents"),
    ("GET", f"{MAPS}?resourceVersion=99999999&resourceVersionMatch=NotOlderThan", None, None, 504, "Too large resource version"),
    ("GET", f"{MAPS}/none", None, None, 404, 'configmaps "none" not found'),
    ("POST", f"{MAPS}", JSON, json.dumps(configmap("one")).encode(), 409, 'configmaps "one" already exists'),
    ("PUT", "/api/v1/namespaces", JSON, b"{}", 405, "does not allow this method"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "content", "body", "status", "says"), REFUSED)
def test_a_refusal_has_its_code_and_names_the_culprit(wire, method, path, content, body, status, says):
    before = items(wire)
    answered, headers, answer = wire.ask(
        method, path, body, Accept=JSON, **({"Content_Type": content} if content else {})
    )

    told = json.loads(answer)
    assert (answered, told["kind"], told["code"]) == (status, "Status", status), told
    assert re.search(says, told["message"] + json.dumps(told.get("details", {}))), told
    if status == 504:
        assert told["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
        assert told["details"]["retryAfterSeconds"] == 1
        assert headers["retry-after"] == "1"
    assert items(wire) == before


def items(wire):
    """Return the objects alone: the revision beside them moves with the server's own writes elsewhere."""
    return json.loads(wire.get(MAPS)[2])["items"]


def test_who_reads_protobuf_gets_errors_in_it(wire):
    status, headers, body = wire.get(f"{MAPS}/none", f"{PROTOBUF},{JSON}")

    assert (status, headers["content-type"]) == (404, PROTOBUF)
    assert open_envelope(body).kind == "Status"
    assert b'configmaps "none" not found' in body


def test_a_long_answer_is_compressed_for_who_takes_it(wire):
    _, plain, whole = wire.get(MAPS)
    _, packed, short = wire.get(MAPS, Accept_Encoding="gzip")
    _, small, _ = wire.get(f"{MAPS}/one", Accept_Encoding="gzip")

    assert "content-encoding" not in plain
    assert packed["content-encoding"] == "gzip"
    assert "Accept-Encoding" in packed["vary"]
    assert gzip.decompress(short) == whole
    assert "content-encoding" not in small


def test_every_answer_says_who_handled_it(wire):
    for path in (f"{MAPS}/one", f"{MAPS}/none"):
        _, headers, _ = wire.get(path)

        assert headers["audit-id"]
        assert headers["cache-control"] == "no-cache, private"
    assert wire.get(f"{MAPS}/one", Audit_Id="mine")[1]["audit-id"] == "mine"


def test_what_is_not_declared_warns_is_refused_or_goes_unsaid(wire):
    odd = {**configmap("odd"), "surprise": 1}
    twice = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd","name":"odd"}}'

    assert wire.warnings("POST", f"{MAPS}?dryRun=All", odd) == (201, ['299 - "unknown field \\"surprise\\""'])
    assert wire.warnings("POST", f"{MAPS}?dryRun=All&fieldValidation=Ignore", odd) == (201, [])
    assert wire.warnings("POST", f"{MAPS}?dryRun=All&fieldValidation=Strict", odd)[0] == 400
    assert wire.warnings("POST", f"{MAPS}?dryRun=All", twice) == (201, ['299 - "duplicate field \\"metadata.name\\""'])
    assert wire.warnings("POST", f"{WIDGETS}?dryRun=All", {**custom("Widget", "odd"), "surprise": 1}) == (
        201, ['299 - "unknown field \\"surprise\\""'])  # fmt: skip
    assert wire.warnings("GET", "/api/v1/componentstatuses", "")[1] == [
        '299 - "v1 ComponentStatus is deprecated in v1.19+"'
    ]


def test_a_page_leads_to_the_next_and_counts_the_rest(wire):
    first = json.loads(wire.get("/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=5")[2])
    second = json.loads(
        wire.get(f"/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=5&continue={first['metadata']['continue']}")[2]
    )
    chosen = json.loads(
        wire.get("/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=5&labelSelector=kubernetes.io/bootstrapping")[2]
    )

    assert len(first["items"]) == 5
    assert first["metadata"]["remainingItemCount"] == second["metadata"]["remainingItemCount"] + 5
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]
    assert "remainingItemCount" not in chosen["metadata"]


def test_discovery_follows_the_definitions(wire):
    accept = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    _, before, _ = wire.get("/apis", accept)
    assert wire.get("/apis", accept, If_None_Match=before["etag"])[0] == 304
    other = definition("Bauble")

    def served():
        groups = json.loads(wire.get("/apis", accept)[2])["items"]
        found = next(group for group in groups if group["metadata"]["name"] == GROUP)["versions"][0]["resources"]
        return {resource["resource"]: resource for resource in found}

    wire.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", other)
    eventually(lambda: "baubles" in served())
    eventually(lambda: b"Bauble" in wire.get(f"/openapi/v3/apis/{GROUP}/v1")[2])
    eventually(lambda: b"Bauble" in wire.get("/openapi/v2")[2])

    assert wire.get("/apis", accept, If_None_Match=before["etag"])[0] == 200
    assert [part["subresource"] for part in served()["baubles"]["subresources"]] == ["status", "scale"]
    wire.ask("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{other['metadata']['name']}")
    eventually(lambda: "baubles" not in served())
    eventually(lambda: b"Bauble" not in wire.get(f"/openapi/v3/apis/{GROUP}/v1")[2])


SELECTORS = {
    "/api/v1/pods": "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork "
    "status.phase status.podIP status.podIPs status.nominatedNodeName",
    "/api/v1/nodes": "spec.unschedulable",
    "/api/v1/replicationcontrollers": "status.replicas",
    "/api/v1/events": "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid "
    "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason reportingComponent source type",
    "/apis/events.k8s.io/v1/events": "regarding.kind regarding.namespace regarding.name regarding.uid reason "
    "reportingController type",
    "/api/v1/namespaces": "status.phase",
    "/api/v1/secrets": "type",
    "/api/v1/services": "spec.clusterIP spec.type",
    "/apis/batch/v1/jobs": "status.successful",
    "/apis/certificates.k8s.io/v1/certificatesigningrequests": "spec.signerName",
    "/apis/resource.k8s.io/v1/resourceslices": "spec.nodeName spec.driver",
}


@pytest.mark.parametrize("path", SELECTORS)
def test_the_fields_that_lists_are_chosen_by(wire, path):
    for name in (*SELECTORS[path].split(), "metadata.name"):
        status, _, body = wire.get(f"{path}?fieldSelector={name}%3Dx")
        assert status == 200, body
    status, _, body = wire.get(f"{path}?fieldSelector=spec.nothing%3Dx")
    of = " for resource.k8s.io/v1, Kind=ResourceSlice" if path.endswith("/resourceslices") else ""
    assert (status, json.loads(body)["message"].rpartition("field ")[2]) == (
        400,
        f"label not supported{of}: spec.nothing",
    )


PARTS = {
    "/api/v1": "pods/attach pods/binding pods/ephemeralcontainers pods/eviction pods/exec pods/log pods/portforward "
    "pods/proxy pods/resize pods/status services/proxy services/status nodes/proxy nodes/status namespaces/finalize "
    "namespaces/status serviceaccounts/token persistentvolumes/status persistentvolumeclaims/status "
    "replicationcontrollers/scale replicationcontrollers/status resourcequotas/status",
    "/apis/apps/v1": "deployments/scale deployments/status replicasets/scale replicasets/status statefulsets/scale "
    "statefulsets/status daemonsets/status",
    "/apis/batch/v1": "jobs/status cronjobs/status",
    "/apis/autoscaling/v2": "horizontalpodautoscalers/status",
    "/apis/policy/v1": "poddisruptionbudgets/status",
    "/apis/networking.k8s.io/v1": "ingresses/status servicecidrs/status",
    "/apis/flowcontrol.apiserver.k8s.io/v1": "flowschemas/status prioritylevelconfigurations/status",
    "/apis/apiregistration.k8s.io/v1": "apiservices/status",
    "/apis/apiextensions.k8s.io/v1": "customresourcedefinitions/status",
    "/apis/storage.k8s.io/v1": "volumeattachments/status",
    "/apis/admissionregistration.k8s.io/v1": "validatingadmissionpolicies/status",
    "/apis/certificates.k8s.io/v1": "certificatesigningrequests/approval certificatesigningrequests/status",
    f"/apis/{GROUP}/v1": "widgets/scale widgets/status",
}


@pytest.mark.parametrize("path", PARTS)
def test_the_parts_of_objects_are_discovered(wire, path):
    found = {row["name"] for row in json.loads(wire.get(path)[2])["resources"]}

    assert {name for name in found if "/" in name} == set(PARTS[path].split())
