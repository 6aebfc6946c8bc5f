"""Pods for Windows: their options, processes of the host, and what only Linux has."""

import pytest
from hyperkube_api.core.pod_specs.validation.windows import validate_host_processes, validate_system, windows_options

from hyperkube.machinery.field import ROOT

SPEC = ROOT.child("spec")
AT = "spec.containers[0].securityContext"


def a_spec(context=None, own=None, **members):
    container = {"name": "c", "image": "i"} | ({"securityContext": own} if own is not None else {})
    return {"containers": [container], **members} | ({"securityContext": context} if context is not None else {})


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("ContainerUser", []),
        ("NT AUTHORITY\\SYSTEM", []),
        ("example.com\\john", []),
        ("", [" cannot be an empty string"]),
        ("a\tb", [" cannot contain control characters"]),
        ("a\\b\\c", [" cannot contain more than one backslash"]),
        ("\\john", ["'s Domain doesn't match the NetBios nor the DNS format"]),
        ("a domain too long\\john", ["'s Domain doesn't match the NetBios nor the DNS format"]),
        ("domain\\", ["'s User cannot be empty"]),
        ("a" * 105, ["'s User length must not be longer than 104 characters"]),
        (". .", ["'s User cannot contain only periods or spaces"]),
        ("a@b", ["'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"]),
    ],
)
def test_a_user_has_a_domain_and_a_name_of_windows(user, expected):
    errors = windows_options(ROOT, {"runAsUserName": user})

    assert [error.detail for error in errors] == [f"runAsUserName{text}" for text in expected]


def test_a_credential_is_named_or_spelled_out():
    errors = windows_options(SPEC, {"gmsaCredentialSpecName": "A_", "gmsaCredentialSpec": ""})
    too_large = windows_options(SPEC, {"gmsaCredentialSpec": "x" * (64 * 1024 + 1)})

    assert [str(error.path) for error in errors] == ["spec.gmsaCredentialSpecName", "spec.gmsaCredentialSpec"]
    assert [error.detail for error in too_large] == ["gmsaCredentialSpec size must be under 64 KiB"]
    assert windows_options(SPEC, {"gmsaCredentialSpecName": "a.b", "gmsaCredentialSpec": "x" * 64 * 1024}) == []


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        (a_spec(), []),
        (a_spec({"windowsOptions": {"hostProcess": True}}, hostNetwork=True), []),
        (a_spec({"windowsOptions": {"hostProcess": True}}), ["spec.hostNetwork"]),
        (
            a_spec({"windowsOptions": {"hostProcess": True}}, {"windowsOptions": {"hostProcess": False}}),
            [f"{AT}.windowsOptions.hostProcess"],
        ),
        (
            a_spec(
                None,
                {"windowsOptions": {"hostProcess": True}},
                hostNetwork=True,
                initContainers=[{"name": "i", "image": "i"}],
            ),
            ["spec"],
        ),
    ],
    ids=["none", "all", "without the host's network", "against the pod", "some"],
)
def test_all_containers_are_processes_of_the_host_or_none(spec, fields):
    assert [str(error.path) for error in validate_host_processes(SPEC, spec, privileged=True)] == fields


def test_processes_of_the_host_need_a_cluster_that_allows_privileges():
    spec = a_spec({"windowsOptions": {"hostProcess": True}}, hostNetwork=True)

    (error,) = validate_host_processes(SPEC, spec, privileged=False)

    assert str(error) == "spec: Forbidden: hostProcess containers are disallowed by cluster policy"


def test_windows_has_nothing_of_linux():
    context = {"fsGroup": 1, "sysctls": [], "supplementalGroups": []}
    own = {"privileged": False, "procMount": "Default", "windowsOptions": {}}
    spec = a_spec(context, own, os={"name": "windows"}, hostPID=True, hostIPC=False, shareProcessNamespace=False)

    errors = validate_system(SPEC, spec)

    assert {error.detail for error in errors} == {"cannot be set for a windows pod"}
    assert [str(error.path) for error in errors] == [
        "spec.hostPID",
        "spec.securityContext.fsGroup",
        "spec.shareProcessNamespace",
        "spec.securityContext.supplementalGroups",
        f"{AT}.privileged",
        f"{AT}.procMount",
    ]


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (None, []),
        ({}, ["spec.os.name: Required value"]),
        ({"name": "mac"}, ['spec.os: Unsupported value: "mac": supported values: "linux", "windows"']),
        ({"name": "linux"}, [f"{AT}.windowsOptions: Forbidden: windows options cannot be set for a linux pod"]),
    ],
)
def test_a_system_is_linux_or_windows(system, expected):
    spec = a_spec(None, {"windowsOptions": {}}, os=system)

    assert [str(error) for error in validate_system(SPEC, spec)] == expected
