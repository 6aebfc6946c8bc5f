"""Security contexts as Docker's options."""

import pytest
from hyperkube_runtime.docker.security_options import (
    docker_user,
    protected_paths,
    security_host_config,
    security_options,
)

from hyperkube.hookspecs.runtime import RuntimeFailed

CONFINED = {"seccomp": {}}


@pytest.mark.parametrize(
    ("context", "user"),
    [
        ({}, ""),
        ({"run_as_user": {"value": 1000}}, "1000"),
        ({"run_as_user": {}}, "0"),
        ({"run_as_user": {"value": 1000}, "run_as_group": {"value": 2000}}, "1000:2000"),
        ({"run_as_username": "web"}, "web"),
    ],
)
def test_users(context, user):
    assert docker_user(context) == user


@pytest.mark.parametrize(
    ("context", "options"),
    [
        (CONFINED, []),
        ({}, ["seccomp=unconfined"]),
        ({"seccomp": {"profile_type": "Unconfined"}}, ["seccomp=unconfined"]),
        (CONFINED | {"no_new_privs": True}, ["no-new-privileges"]),
        (CONFINED | {"no_new_privs": True, "privileged": True}, []),
        (CONFINED | {"apparmor": {"profile_type": "Localhost", "localhost_ref": "mine"}}, ["apparmor=mine"]),
        (CONFINED | {"apparmor": {"profile_type": "Unconfined"}}, ["apparmor=unconfined"]),
        (CONFINED | {"apparmor": {}, "apparmor_profile": "localhost/old"}, ["apparmor=old"]),
        (CONFINED | {"apparmor_profile": "runtime/default"}, []),
        (CONFINED | {"selinux_options": {"type": "t", "level": "s0"}}, ["label=type:t", "label=level:s0"]),
    ],
)
def test_options(context, options):
    assert security_options(context) == options


def test_a_profile_of_the_node_is_sent_as_its_content(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text('{ "defaultAction": "SCMP_ACT_ALLOW" }')

    context = {"seccomp": {"profile_type": "Localhost", "localhost_ref": str(profile)}}

    assert security_options(context) == ['seccomp={"defaultAction":"SCMP_ACT_ALLOW"}']


@pytest.mark.parametrize("path", ["relative.json", "/no/such.json"])
def test_a_profile_that_cannot_be_read_is_refused(path):
    with pytest.raises(RuntimeFailed, match="seccomp profile"):
        security_options({"seccomp": {"profile_type": "Localhost", "localhost_ref": path}})


def test_capabilities_groups_and_paths():
    context = {
        "capabilities": {"add_capabilities": ["NET_ADMIN"], "drop_capabilities": ["ALL"]},
        "supplemental_groups": [1, 2],
        "readonly_rootfs": True,
        "masked_paths": ["/proc/kcore"],
    }

    made = security_host_config(context)

    assert (made["CapAdd"], made["CapDrop"], made["GroupAdd"]) == (["NET_ADMIN"], ["ALL"], ["1", "2"])
    assert (made["ReadonlyRootfs"], made["Privileged"]) == (True, False)
    assert protected_paths(context) == {"MaskedPaths": ["/proc/kcore"], "ReadonlyPaths": []}


def test_nothing_is_masked_for_a_privileged_container():
    assert security_host_config({"privileged": True})["Privileged"]
    assert protected_paths({"privileged": True, "masked_paths": ["/proc/kcore"]}) == {}


def test_groups_of_the_image_cannot_be_left_out():
    with pytest.raises(RuntimeFailed, match="supplementalGroupsPolicy must not be Strict"):
        security_host_config({"supplemental_groups_policy": "Strict"})
