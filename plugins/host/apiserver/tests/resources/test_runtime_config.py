import pytest
from hyperkube_host.apiserver.resources.registry import version_key
from hyperkube_host.apiserver.resources.runtime_config import may_serve_legacy, selected, unserved

from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource


def version(group, name, *, served=True, legacy=False):
    spec = ResourceSpec(
        resource=GroupVersionResource(group, name, "things"),
        kind=GroupVersionKind(group, name, "Thing"),
        singular="thing",
        namespaced=True,
        verbs=("get",),
        schema="nowhere:Thing",
        served=served,
    )
    return ApiGroupVersion(group=group, version=name, resources=(spec,), legacy=legacy)


def names(config, *versions):
    return [one.version for one in selected(versions, config)]


def test_what_is_not_served_by_default_needs_asking_for():
    beta = version("g", "v1beta1", served=False)

    assert names({}, version("g", "v1"), beta) == ["v1"]
    assert names({"g/v1beta1": "true"}, version("g", "v1"), beta) == ["v1", "v1beta1"]
    assert names({"api/beta": "true"}, version("g", "v1"), beta) == ["v1", "v1beta1"]


def test_what_kubernetes_has_removed_is_asked_for_as_a_whole_or_by_name():
    given = version("g", "v1"), version("g", "v1beta1", legacy=True), version("g", "v1beta2", legacy=True)

    assert names({}, *given) == ["v1"]
    assert names({"api/all": "true", "api/beta": "true"}, *given) == ["v1"]
    assert names({"api/legacy": "true"}, *given) == ["v1", "v1beta1", "v1beta2"]
    assert names({"api/legacy": "true", "g/v1beta1": "false"}, *given) == ["v1", "v1beta2"]
    assert names({"g/v1beta1": "true"}, *given) == ["v1", "v1beta1"]
    assert names({"g/v1beta1/things": "true"}, *given) == ["v1", "v1beta1"]


@pytest.mark.parametrize(
    ("config", "may"),
    [
        ({}, False),
        ({"api/all": "true", "api/beta": "true", "api/alpha": "true", "api/ga": "true"}, False),
        ({"api/legacy": "true"}, True),
        ({"g/v1beta1": "true"}, True),
        ({"api/all": "true", "api/g/v1beta1": "true"}, True),
        ({"g/v1beta1/things": "true"}, True),
    ],
    ids=str,
)
def test_what_kubernetes_has_removed_may_be_served_where_the_flag_names_more_than_stages(config, may):
    assert may_serve_legacy(config) is may
    assert bool(names(config, version("g", "v1beta1", legacy=True))) is may


def test_a_version_can_be_switched_off():
    assert names({"g/v1": "false"}, version("g", "v1"), version("h", "v1")) == ["v1"]


def test_all_can_be_switched_off_but_one():
    assert names({"api/all": "false", "v1": "true"}, version("", "v1"), version("g", "v1")) == ["v1"]


def test_a_value_that_is_neither_is_a_usage_error():
    with pytest.raises(UsageError, match="must be true or false"):
        names({"g/v1": "maybe"}, version("g", "v1"))


def test_versions_are_ordered_by_maturity_then_age():
    given = ["v1alpha1", "v2", "v1beta2", "foo", "v10", "v1beta1", "v1"]

    assert sorted(given, key=version_key) == ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]


def test_what_names_no_version_that_is_there_is_told():
    given = version("g", "v1"), version("", "v1")
    known = {
        "api/all": "true",
        "api/legacy": "true",
        "g/v1": "true",
        "g/v1/things": "true",
        "v1": "true",
        "api/v1": "true",
    }

    assert unserved(given, known) == []
    assert unserved(given, {"g/v9": "true", "h/v1": "true", "g/v1beta1/things": "true"}) == [
        "g/v1beta1/things", "g/v9", "h/v1",
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["foo", "a/b/c/d"])
def test_a_key_of_no_known_form_is_a_usage_error(key):
    with pytest.raises(UsageError, match=f"runtime-config invalid key {key}"):
        unserved([version("g", "v1")], {key: "true"})
