"""A pod is told which of its fields have no effect on this machine."""

import pytest
from hyperkube_runtime.process.unhonoured import NodeAbilities, unhonoured_fields

ROOT = NodeAbilities(is_root=True, private_views=True, cgroups=frozenset({"cpu", "memory"}))
USER = NodeAbilities(is_root=False, private_views=True, cgroups=frozenset())
BARE = NodeAbilities(is_root=False, private_views=False, cgroups=frozenset())


def pod(container=None, **spec):
    return {"spec": {"containers": [{"name": "c", "image": "host", **(container or {})}], **spec}}


@pytest.mark.parametrize("abilities", [ROOT, USER, BARE])
def test_a_plain_pod_has_none(abilities):
    assert unhonoured_fields(pod({"command": ["true"], "resources": {"requests": {"cpu": "1"}}}), abilities) == []


@pytest.mark.parametrize(
    ("abilities", "expected"),
    [
        pytest.param(ROOT, ["ephemeral-storage"], id="root"),
        pytest.param(USER, ["cpu", "ephemeral-storage"], id="user"),
    ],
)
def test_limits_without_a_control_group_are_named(abilities, expected):
    limits = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}

    found = unhonoured_fields(pod({"resources": {"limits": limits}}), abilities)

    assert found == [f"spec.containers[0].resources.limits[{name}]" for name in expected]


def test_a_restricted_pod_is_told_of_its_seccomp_profile():
    security = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "readOnlyRootFilesystem": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }

    assert unhonoured_fields(pod({"securityContext": security}), USER) == [
        "spec.containers[0].securityContext.seccompProfile"
    ]


def test_without_private_views_what_is_mounted_is_named():
    container = {
        "volumeMounts": [{"name": "v", "mountPath": "/data"}],
    }

    assert unhonoured_fields(pod(container, hostAliases=[{"ip": "10.0.0.1"}]), BARE) == [
        "spec.hostAliases",
        "spec.containers[0].volumeMounts",
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"securityContext": {"sysctls": [{"name": "a", "value": "b"}]}},
            "spec.securityContext.sysctls",
            id="sysctls",
        ),
        pytest.param(
            {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}},
            "spec.securityContext.appArmorProfile",
            id="apparmor",
        ),
    ],
)
def test_fields_of_the_pod_are_named(spec, expected):
    assert unhonoured_fields(pod(**spec), ROOT) == [expected]


def test_a_host_port_is_named_unless_the_pod_is_on_the_hosts_network():
    container = {"ports": [{"containerPort": 80, "hostPort": 8080}]}

    assert unhonoured_fields(pod(container), ROOT) == ["spec.containers[0].ports[0].hostPort"]
    assert unhonoured_fields(pod(container, hostNetwork=True), ROOT) == []
