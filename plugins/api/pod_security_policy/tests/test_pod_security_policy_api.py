"""PodSecurityPolicies of policy/v1beta1: decoded, from protobuf, and what makes one."""

import pytest
from hyperkube_api.pod_security_policy.resources import PodSecurityPolicyApi
from hyperkube_api.pod_security_policy.strategy import PodSecurityPolicyStrategy
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema
from hyperkube.plugin import PluginContext

ANY = {"rule": "RunAsAny"}
SPEC = {
    "privileged": True,
    "volumes": ["secret"],
    "hostPorts": [{"min": 1, "max": 2}],
    "seLinux": ANY,
    "runAsUser": {"rule": "MustRunAs", "ranges": [{"min": 1, "max": 65535}]},
    "supplementalGroups": ANY,
    "fsGroup": ANY,
    "allowPrivilegeEscalation": True,
    "allowedHostPaths": [{"pathPrefix": "/foo", "readOnly": True}],
}
OBJECT = {"metadata": {"name": "a"}, "spec": SPEC}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.pod_security_policy.v1beta1:PodSecurityPolicy")


def test_a_podsecuritypolicy_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_podsecuritypolicy_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_podsecuritypolicy_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


def errors(**changed):
    spec = {key: value for key, value in {**SPEC, **changed}.items() if value is not None}
    return [
        str(error) for error in PodSecurityPolicyStrategy().validate(None, {"metadata": {"name": "a"}, "spec": spec})
    ]


def test_a_good_policy_has_no_errors():
    assert errors() == []


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"seLinux": None}, "spec.seLinux.rule: Required value"),
        ({"fsGroup": {"rule": "No"}}, 'spec.fsGroup.rule: Unsupported value: "No"'),
        (
            {"runAsUser": {"rule": "MustRunAs", "ranges": [{"min": 5, "max": 1}]}},
            "spec.runAsUser.ranges[0].min: Invalid value: 5: min cannot be greater than max",
        ),
        (
            {"runAsUser": {"rule": "MustRunAs", "ranges": [{"min": -1, "max": 1}]}},
            "spec.runAsUser.ranges[0].min: Invalid value: -1: min cannot be negative",
        ),
        (
            {"allowedCapabilities": ["A"], "requiredDropCapabilities": ["A"]},
            'spec.allowedCapabilities: Invalid value: "A": capability is listed in allowedCapabilities and',
        ),
        (
            {"allowPrivilegeEscalation": False, "defaultAllowPrivilegeEscalation": True},
            "spec.defaultAllowPrivilegeEscalation: Invalid value: true: Cannot set",
        ),
        ({"allowedHostPaths": [{"pathPrefix": "/a/../b"}]}, "spec.allowedHostPaths[0].pathPrefix: Invalid value"),
        ({"allowedHostPaths": [{}]}, "spec.allowedHostPaths[0]: Required value"),
    ],
)
def test_what_is_wrong_is_said(changed, text):
    assert errors(**changed)[0].startswith(text)


def test_it_is_served_only_when_asked_for():
    (version,) = PodSecurityPolicyApi(PluginContext(name="pod-security-policy")).api_group_versions()

    assert version.legacy


class TestContract(ApiContract):
    plugin = PodSecurityPolicyApi
