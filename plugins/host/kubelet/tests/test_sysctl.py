"""Kernel settings of pods."""

import pytest
from hyperkube_host.kubelet.sysctl import SysctlAllowlist, sysctl_name
from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.machinery.errors import UsageError


def refusal(*names, unsafe=(), **spec):
    pod = {"spec": {"securityContext": {"sysctls": [{"name": name, "value": "1"} for name in names]}, **spec}}
    return SysctlAllowlist(unsafe).admit(pod)


def test_safe_ones_and_allowed_ones_are_admitted():
    assert refusal("kernel.shm_rmid_forced", "net/core/somaxconn", unsafe=["net.core.*"]) is None
    assert refusal("kernel.msgmax", unsafe=["kernel.msgmax"]) is None


@pytest.mark.parametrize(
    ("name", "spec", "why"),
    [
        ("kernel.msgmax", {}, "not allowlisted"),
        ("kernel.shm_rmid_forced", {"hostIPC": True}, "not allowed with host ipc enabled"),
        ("net.ipv4.tcp_syncookies", {"hostNetwork": True}, "not allowed with host net enabled"),
    ],
)
def test_others_are_refused_with_a_reason(name, spec, why):
    assert refusal(name, **spec) == Failure("SysctlForbidden", f'forbidden sysctl: "{name}" {why}')


def test_what_would_change_the_node_cannot_be_allowed():
    with pytest.raises(UsageError, match="not known to be namespaced"):
        SysctlAllowlist(["vm.swappiness"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [("net/ipv4/conf/eth0.1/forwarding", "net.ipv4.conf.eth0/1.forwarding"), ("net.ipv4.a", "net.ipv4.a")],
)
def test_names_have_dots_between_their_parts(name, expected):
    assert sysctl_name(name) == expected
