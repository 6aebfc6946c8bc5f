import pytest
from hyperkube_admission.mutating_admission_policy import MutatingAdmissionPolicy
from hyperkube_admission.mutating_admission_policy.merge import MergeRefused, MergeSchema, apply_configuration
from hyperkube_admission.mutating_admission_policy.plugin import BINDINGS, POLICIES

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import ApiError
from hyperkube.testing.admission_rig import AdmissionRig

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}, "data": {"x": "1"}}
DOCUMENT = {
    "Pod": {"properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/Spec"}]}}},
    "Spec": {
        "properties": {
            "containers": {
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"$ref": "#/components/schemas/Container"},
            },
            "set": {"x-kubernetes-list-type": "set", "items": {}},
            "args": {"x-kubernetes-list-type": "atomic", "items": {}},
            "whole": {"x-kubernetes-map-type": "atomic"},
        }
    },
    "Container": {"properties": {"name": {}, "image": {}, "env": {}}},
}


def policy(*mutations, name="p", **more):
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "mutations": list(mutations), **more}
    return {"metadata": {"name": name}, "spec": spec}


def applying(expression):
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patching(expression):
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


@pytest.fixture
def rig(monkeypatch):
    rig = AdmissionRig(MutatingAdmissionPolicy)
    monkeypatch.setattr(rig.plugin._schemas, "find", lambda _kind: None)
    rig.seed(NAMESPACES, {"metadata": {"name": "ns"}})
    return rig


def install(rig, made):
    rig.seed(POLICIES, made)
    name = made["metadata"]["name"]
    rig.seed(BINDINGS, {"metadata": {"name": f"{name}-b"}, "spec": {"policyName": name}})


def test_an_apply_configuration_is_merged(rig):
    install(rig, policy(applying("Object{metadata: Object.metadata{labels: {'added': object.metadata.name}}}")))

    made = rig.create(CONFIG_MAPS, OBJECT)

    assert made["metadata"]["labels"] == {"added": "c"}
    assert made["data"] == {"x": "1"}


def test_a_json_patch_is_applied(rig):
    source = "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a/b'), value: 'y'}]"
    install(rig, policy(patching(source)))

    assert rig.create(CONFIG_MAPS, OBJECT)["data"] == {"x": "1", "a/b": "y"}


def test_mutations_follow_one_another(rig):
    install(
        rig,
        policy(
            patching("[JSONPatch{op: 'add', path: '/data/y', value: variables.seen}]"),
            patching("[JSONPatch{op: 'add', path: '/data/z', value: object.data.y}]"),
            variables=[{"name": "seen", "expression": "object.data.x"}],
        ),
    )

    assert rig.create(CONFIG_MAPS, OBJECT)["data"] == {"x": "1", "y": "1", "z": "1"}


@pytest.mark.parametrize(
    ("mutation", "text"),
    [
        (applying("Object{spec: Object.wrong{}}"), 'unexpected type name "Object.wrong", expected "Object.spec"'),
        (patching("[JSONPatch{op: 'remove', path: '/nothing'}]"), "JSON Patch: "),
        (applying("Object{metadata: object.nothing}"), "resulted in error: no such key: nothing"),
    ],
    ids=["name", "patch", "evaluation"],
)
def test_what_cannot_be_done_refuses_unless_ignored(rig, mutation, text):
    install(rig, policy(mutation, name="a", failurePolicy="Ignore"))
    assert rig.create(CONFIG_MAPS, OBJECT) == OBJECT
    install(rig, policy(mutation, name="b"))

    with pytest.raises(ApiError) as caught:
        rig.create(CONFIG_MAPS, OBJECT)

    status = caught.value.status()
    assert status["message"].startswith("policy 'b' with binding 'b-b' denied request: ")
    assert text in status["message"]
    assert (status["reason"], status["code"]) == ("Invalid", 403)


def test_one_that_wishes_it_is_asked_again_after_a_change(rig):
    append = patching("[JSONPatch{op: 'add', path: '/data/n', value: object.data.?n.orValue('') + 'a'}]")
    late = patching("[JSONPatch{op: 'add', path: '/data/late', value: '1'}]")
    install(rig, policy(append, name="a", reinvocationPolicy="IfNeeded"))
    install(rig, policy(late, name="b", reinvocationPolicy="Never"))
    request = rig.request("CREATE", CONFIG_MAPS, OBJECT)
    rig.plugin.admission_mutate(request=request)
    request.is_reinvocation = True

    rig.plugin.admission_mutate(request=request)

    assert request.wants_reinvocation
    assert request.object["data"] == {"x": "1", "n": "aa", "late": "1"}


def test_keyed_lists_and_sets_are_merged():
    live = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b"}], "set": ["x"]}}
    patch = {"spec": {"containers": [{"name": "a", "env": "e"}, {"name": "c"}], "set": ["x", "y"]}}

    merged = apply_configuration(live, patch, MergeSchema(DOCUMENT["Pod"], DOCUMENT))

    assert merged["spec"]["containers"] == [{"name": "a", "image": "1", "env": "e"}, {"name": "b"}, {"name": "c"}]
    assert merged["spec"]["set"] == ["x", "y"]
    assert live["spec"]["containers"][0] == {"name": "a", "image": "1"}


@pytest.mark.parametrize(("spec", "path"), [({"args": ["x"]}, ".spec.args"), ({"whole": {"a": "b"}}, ".spec.whole")])
def test_what_is_atomic_may_not_be_touched(spec, path):
    with pytest.raises(MergeRefused) as caught:
        apply_configuration({}, {"spec": spec}, MergeSchema(DOCUMENT["Pod"], DOCUMENT))

    assert str(caught.value) == f"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {path}"
