import pytest
from hyperkube_host.apiserver.rest.metadata import internal_kind, keep_for_status, validate_create, validate_update

from hyperkube.hookspecs.api import Strategy
from hyperkube.machinery.groups import GroupKind


class Plain(Strategy):
    plain_finalizers = True


class Internal(Strategy):
    internal_group = ""


def texts(errors):
    return [str(error) for error in errors]


def create(namespaced=True, **meta):
    obj = {"metadata": {"name": "a", "namespace": "n", **meta}}
    return texts(validate_create(obj, namespaced=namespaced, strategy=Strategy()))


def test_a_plain_object_is_fine():
    assert create() == []


def test_a_name_is_required():
    assert create(name="") == ["metadata.name: Required value: name or generateName is required"]


def test_a_cluster_scoped_object_has_no_namespace():
    assert create(namespaced=False) == ["metadata.namespace: Forbidden: not allowed on this type"]


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"labels": {"/x": "y"}}, 'metadata.labels: Invalid value: "/x": prefix part must be non-empty'),
        ({"ownerReferences": [{"apiVersion": "v1", "kind": "P", "name": "p"}]}, "metadata.ownerReferences.uid"),
        ({"finalizers": ["abc"]}, "name is neither a standard finalizer name nor is it fully qualified"),
        ({"annotations": {"a": "x" * 300_000}}, "metadata.annotations: Too long: may not be more than 262144 bytes"),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, "cannot be both set"),
    ],
    ids=["label", "owner", "finalizer", "annotations", "both policies"],
)
def test_each_rule_names_its_field(meta, expected):
    (error,) = create(**meta)

    assert expected in error


def test_only_one_owner_controls():
    owners = [{"apiVersion": "v1", "kind": "P", "name": n, "uid": n, "controller": True} for n in "pq"]

    (error,) = create(ownerReferences=owners)

    assert error.endswith('Found "true" in references for P/p and P/q')


def test_an_update_keeps_the_identity():
    old = {"metadata": {"name": "a", "uid": "1"}}
    new = {"metadata": {"name": "a", "uid": "2"}}

    assert (
        texts(validate_update(new, old, strategy=Strategy()))[0]
        == 'metadata.uid: Invalid value: "2": field is immutable'
    )


def test_no_finalizer_is_added_during_deletion():
    old = {"metadata": {"name": "a", "deletionTimestamp": "2030-01-01T00:00:00Z"}}
    new = {"metadata": {**old["metadata"], "finalizers": ["example.com/x"]}}

    assert 'found new finalizers []string{"example.com/x"}' in texts(validate_update(new, old, strategy=Strategy()))[0]


def test_finalizers_of_kinds_that_others_define_need_no_path():
    obj = {"metadata": {"name": "a", "finalizers": ["example.com"]}}

    assert texts(validate_update(obj, obj, strategy=Plain())) == []
    assert "neither a standard finalizer" in texts(validate_update(obj, obj, strategy=Strategy()))[0]


@pytest.mark.parametrize(
    ("checks", "labels", "uids", "finalizers"),
    [
        (("object", "change"), 4, 2, 2),
        (("object",), 3, 1, 1),
        (("change",), 3, 2, 1),
        (("object", "object"), 4, 1, 2),
        ((), 2, 1, 0),
    ],
    ids=["both", "object", "change", "object twice", "neither"],
)
def test_an_error_of_an_update_comes_as_often_as_it_is_found(checks, labels, uids, finalizers):
    strategy = Strategy()
    strategy.metadata_checks = checks
    old = {"metadata": {"name": "a", "uid": "1"}}
    new = {"metadata": {"name": "a", "uid": "2", "labels": {"a": "b c"}, "finalizers": ["bad"]}}

    fields = [error.path for error in validate_update(new, old, strategy=strategy)]

    assert fields.count("metadata.labels") == labels
    assert fields.count("metadata.uid") == uids
    assert fields.count("metadata.finalizers[0]") == finalizers


def test_a_write_to_the_status_checks_the_change_alone():
    obj = {"metadata": {"name": "a", "labels": {"a": "b c"}}}

    assert len(validate_update(obj, obj, strategy=Strategy(), status=True)) == 3


def test_a_generation_is_not_negative():
    assert create(generation=-5) == ["metadata.generation: Invalid value: -5: must be greater than or equal to 0"]


def test_a_refusal_names_the_internal_group():
    kind = GroupKind("events.k8s.io", "Event")

    assert internal_kind(kind, Strategy()) == kind
    assert internal_kind(kind, Internal()) == GroupKind("", "Event")


def test_a_write_to_the_status_keeps_metadata_where_the_strategy_resets_it():
    meta = {"name": "a", "labels": {"a": "new"}, "finalizers": ["x/y"]}

    keep_for_status(meta, {"name": "a", "labels": {"a": "old"}})

    assert meta == {"name": "a", "labels": {"a": "old"}}
