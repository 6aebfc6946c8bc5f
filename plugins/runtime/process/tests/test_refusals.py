"""A pod that cannot be confined as it asks does not run."""

import pytest
from hyperkube_runtime.process.refusals import refuse_container, refuse_sandbox

from hyperkube.hookspecs.runtime import RuntimeFailed

POD_USERS = {"namespace_options": {"userns_options": {"mode": "POD"}}}


def container(**security):
    return {"command": ["true"], "linux": {"security_context": security}}


@pytest.mark.parametrize(
    ("security", "handler", "text"),
    [
        ({}, "kata", 'no runtime for "kata" is configured'),
        (POD_USERS, "", "hostUsers: false needs user namespaces"),
    ],
    ids=["runtime-class", "user-namespace"],
)
def test_an_isolation_of_the_pod_that_there_is_not_is_refused(security, handler, text):
    with pytest.raises(RuntimeFailed, match=text):
        refuse_sandbox({"linux": {"security_context": security}}, handler)


def test_a_pod_on_the_nodes_users_is_taken():
    refuse_sandbox({"linux": {"security_context": {"namespace_options": {"userns_options": {"mode": "NODE"}}}}}, "")
    refuse_sandbox({}, "")


@pytest.mark.parametrize(
    ("security", "field"),
    [
        ({"seccomp": {"profile_type": "LOCALHOST", "localhost_ref": "/p.json"}}, "seccompProfile"),
        ({"apparmor": {"profile_type": "LOCALHOST", "localhost_ref": "p"}}, "appArmorProfile"),
        ({"readonly_rootfs": True}, "readOnlyRootFilesystem"),
    ],
    ids=["seccomp", "apparmor", "read-only"],
)
def test_a_confinement_that_there_is_not_is_refused(security, field):
    with pytest.raises(RuntimeFailed, match=f"securityContext.{field} ") as refusal:
        refuse_container(container(**security), has_private_view=False)
    assert refusal.value.reason == "CreateContainerError"


def test_a_container_without_a_command_is_refused():
    with pytest.raises(RuntimeFailed, match="no command specified"):
        refuse_container({}, has_private_view=True)
    refuse_container({"args": ["true"]}, has_private_view=True)


@pytest.mark.parametrize(
    "security",
    [{}, {"seccomp": {}, "apparmor": {}}, {"seccomp": {"profile_type": "Unconfined"}}, {"readonly_rootfs": True}],
)
def test_what_holds_is_taken(security):
    refuse_container(container(**security), has_private_view=True)
