"""The types of the group settings: one of them is decoded, and comes back from protobuf; what makes a preset."""

import pytest
from hyperkube_api.settings.resources import SettingsApi
from hyperkube_api.settings.strategy import PodPresetStrategy
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema
from hyperkube.plugin import PluginContext

OBJECT = {
    "metadata": {"name": "a", "namespace": "ns"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "env": [{"name": "DB", "value": "db:5432"}],
        "envFrom": [{"configMapRef": {"name": "settings"}}],
        "volumes": [{"name": "cache", "emptyDir": {}}],
        "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
    },
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.settings.v1alpha1:PodPreset")


def test_a_podpreset_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_podpreset_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_podpreset_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


def errors(**spec):
    return [str(error) for error in PodPresetStrategy().validate(None, {"metadata": {"name": "a"}, "spec": spec})]


def test_a_good_preset_has_no_errors():
    assert errors(**OBJECT["spec"]) == []


def test_a_preset_that_adds_nothing_is_refused():
    assert errors(selector={}) == ["spec.volumes.env.envFrom.volumeMounts: Required value: must specify at least one"]


def test_what_is_added_must_be_right():
    found = errors(
        selector={"matchExpressions": [{"key": "a", "operator": "Near"}]},
        env=[{"name": ""}],
        envFrom=[{}],
        volumes=[{"name": "V", "emptyDir": {}}],
        volumeMounts=[{"name": "other", "mountPath": "/x"}],
    )

    assert [text.partition(":")[0] for text in found] == [
        "spec.selector.matchExpressions[0].operator",
        "spec.volumes[0].name",
        "spec.env[0].name",
        "spec.envFrom",
        "spec.volumeMounts[0].name",
    ]


def test_volumes_and_references_get_the_defaults_they_have_in_pods():
    preset = {"spec": {"volumes": [{"name": "s", "secret": {"secretName": "s"}}],
                       "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}}  # fmt: skip
    PodPresetStrategy().default(preset)

    assert preset["spec"]["volumes"][0]["secret"]["defaultMode"] == 420
    assert preset["spec"]["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"


def test_it_is_served_only_when_asked_for():
    (version,) = SettingsApi(PluginContext(name="settings")).api_group_versions()

    assert version.legacy


class TestContract(ApiContract):
    plugin = SettingsApi
