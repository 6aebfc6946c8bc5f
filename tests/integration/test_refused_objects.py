"""Objects that break a rule are refused in upstream's words: rules found missing by comparing answers.

Each row is a resource, an object, and why it is refused; an empty text means that it is accepted.
"""

import pytest
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import SERVICE_ACCOUNTS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersion, GroupVersionResource

pytestmark = pytest.mark.slow

HPA = {
    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
    "maxReplicas": 2,
}
TARGET = {"type": "AverageValue", "averageValue": "100Mi"}
ODD = {"name": "memoryx", "container": "c", "target": TARGET}
POLICY = {
    "matchConstraints": {
        "resourceRules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["pods"]}],
        "excludeResourceRules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": [""], "resources": ["pods"]}],
    },
    "reinvocationPolicy": "Never",
    "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}],
}


def crd(schema, **spec):
    """Return a definition whose objects have one member of that schema."""
    whole = {"openAPIV3Schema": {"type": "object", "properties": {"a": {"type": "integer", **schema}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": whole}
    names = {"plural": "as", "kind": "A"}
    spec = {"group": "x.example.com", "scope": "Cluster", "names": names, "versions": [version], **spec}
    return {"metadata": {"name": "as.x.example.com"}, "spec": spec}


CLUSTER_WIDE = frozenset({
    "customresourcedefinitions", "apiservices", "csidrivers", "storageclasses", "servicecidrs", "ipaddresses", "certificatesigningrequests",
    "mutatingadmissionpolicies", "nodes",
})  # fmt: skip
PAST_EXA = "1000000000000000000000"
ROWS = [
    ("autoscaling/v2/horizontalpodautoscalers", {"spec": {
        **HPA, "behavior": {"scaleUp": {"policies": []}}}},
     "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy"),
    ("autoscaling/v2/horizontalpodautoscalers", {"spec": {
        **HPA, "metrics": [{"type": "ContainerResource", "containerResource": ODD}]}},
     'spec.metrics[0].containerResource.name: Invalid value: "memoryx": must be a standard resource for containers'),
    ("apiregistration.k8s.io/v1/apiservices", {"metadata": {"name": "v1.g.example.com"}, "spec": {
        "group": "g.example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
        "service": {"namespace": "n", "name": "s", "port": 65536}}},
     "spec.service.port: Invalid value: 65536: port is not valid: must be between 1 and 65535, inclusive"),
    ("storage.k8s.io/v1/csidrivers", {"spec": {"serviceAccountTokenInSecrets": True}},
     "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests"),
    ("storage.k8s.io/v1/storageclasses", {"provisioner": "p", "volumeBindingMode": ""},
     'volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"'),
    ("networking.k8s.io/v1/servicecidrs", {"spec": {"cidrs": ["10.212.0.0/24", "x"]}},
     'spec.cidrs[1]: Invalid value: "x": must be a valid CIDR value'),
    ("networking.k8s.io/v1/ipaddresses", {"metadata": {"generateName": "gen-"}, "spec": {
        "parentRef": {"resource": "services", "name": "s"}}},
     'metadata.generateName: Invalid value: "gen-": must be a valid IP address'),
    ("certificates.k8s.io/v1/certificatesigningrequests", {"spec": {"signerName": "a.b/c", "usages": ["any"]}},
     "spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST"),
    ("admissionregistration.k8s.io/v1/mutatingadmissionpolicies", {"spec": POLICY},
     'operations[0]: Unsupported value: "": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"'),
    ("v1/resourcequotas", {"spec": {"hard": {"pods": PAST_EXA}}},
     'spec.hard[pods]: Invalid value: "1": must be an integer'),
    ("v1/pods", {"spec": {"runtimeClassName": "", "containers": [{"name": "c", "image": "i"}]}},
     "resource name may not be empty"),
    ("v1/pods", {"spec": {"serviceAccountName": "a/b", "containers": [{"name": "c", "image": "i"}]}},
     'error looking up service account default/a/b: invalid resource name "a/b": [may not contain \'/\']'),
    ("apiextensions.k8s.io/v1/customresourcedefinitions",
     crd({"default": 1, "x-kubernetes-validations": [{"rule": "self > 5"}]}),
     "properties[a].default: Invalid value: 1: failed rule: self > 5"),
    ("apiextensions.k8s.io/v1/customresourcedefinitions", crd({"default": 1}, preserveUnknownFields=True),
     "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema"),
    ("v1/pods", {"spec": {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "projected": {"sources": [{"podCertificate": {}, "secret": {"name": "s"}}]}}]}}, ""),
    ("v1/nodes", {"spec": {"podCIDR": "10.1.0.0/24", "podCIDRs": ["x"]}}, ""),
    ("v1/services", {"spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": -1}]}}, ""),
    ("discovery.k8s.io/v1/endpointslices", {
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"], "deprecatedTopology": {"bad key!": "b"}}]}, ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def client():
    options = {"runtime-config": {"api/all": "true"}}
    with ControlPlane(apiserver=options, controller_manager=None, scheduler=None) as cluster:
        cluster.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, "default")
        yield cluster.client


@pytest.mark.parametrize(("path", "obj", "why"), ROWS, ids=[f"{row[0]}: {row[2][:30]}" for row in ROWS])
def test_an_object_is_judged_as_upstream_judges_it(client, path, obj, why):
    version, _, resource = path.rpartition("/")
    kind = GroupVersionResource(*GroupVersion.parse(version), resource)
    namespace = "" if resource in CLUSTER_WIDE else "default"

    try:
        client.create(kind, {"metadata": {"name": "o"}, **obj}, namespace, dry_run=True)
        said = ""
    except ApiError as error:
        said = error.message

    assert (why in said) if why else said == ""
