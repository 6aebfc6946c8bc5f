"""Pods that a node does not let run by its flags."""

from pathlib import Path

import pytest
from hyperkube_host.kubelet.flags import FLAGS
from hyperkube_host.kubelet.lifecycle.node_policy import DiskSpace, node_policy

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

SOURCE = "kubernetes.io/config.source"


def policy(root=Path("/"), **given):
    return node_policy(FlagValues.of(FLAGS, {name.replace("_", "-"): value for name, value in given.items()}), root)


def pod(source="api", *, privileged=None, **spec):
    container = {"name": "c", **({} if privileged is None else {"securityContext": {"privileged": privileged}})}
    meta = {"name": "p", "uid": "u", "annotations": {SOURCE: source}}
    return {"metadata": meta, "spec": {"containers": [container], **spec}}


def failures(handlers, one):
    return [(found.reason, found.message) for found in (handler.admit(one) for handler in handlers) if found]


@pytest.mark.parametrize(
    ("flags", "refused", "what"),
    [
        ({"allow_privileged": "false"}, pod(privileged=True), "privileged container"),
        ({"allow_privileged": "false"}, pod(initContainers=[pod(privileged=True)["spec"]["containers"][0]]),
         "privileged container"),
        ({"host_network_sources": "file,http"}, pod(hostNetwork=True), "host networking"),
        ({"host_network_sources": ""}, pod("file", hostNetwork=True), "host networking"),
        ({"host_pid_sources": "file"}, pod(hostPID=True), "host PID"),
        ({"host_ipc_sources": "http"}, pod("file", hostIPC=True), "host ipc"),
    ],
)  # fmt: skip
def test_what_flags_forbid_is_refused(flags, refused, what):
    text = f'pod with UID "u" specified {what}, but is disallowed'

    assert failures(policy(**flags), refused) == [("Forbidden", text)]


@pytest.mark.parametrize(
    ("flags", "admitted"),
    [
        ({}, pod(privileged=True, hostNetwork=True, hostPID=True, hostIPC=True)),
        ({"allow_privileged": "false"}, pod(privileged=False, hostNetwork=True)),
        ({"host_network_sources": "file"}, pod("file", hostNetwork=True)),
        ({"host_network_sources": "file"}, pod(hostPID=True)),
        ({"host_network_sources": "file,*"}, pod("http", hostNetwork=True)),
    ],
)
def test_all_else_is_admitted(flags, admitted):
    assert failures(policy(**flags), admitted) == []


def test_a_source_that_is_none_is_refused_at_the_start():
    with pytest.raises(UsageError, match='--host-pid-sources: unknown pod source "disk": api, file, http'):
        policy(host_pid_sources="file,disk")


def test_a_full_disk_takes_no_pods(tmp_path):
    refused = ("OutOfDisk", "cannot be started due to lack of disk space.")

    assert failures(policy(tmp_path, low_diskspace_threshold_mb=1 << 40), pod()) == [refused]
    assert failures(policy(tmp_path, low_diskspace_threshold_mb=0), pod()) == []
    assert failures(policy(tmp_path / "not there yet", low_diskspace_threshold_mb=1 << 40), pod()) == []


def test_disks_do_not_count_unless_the_flag_is_given():
    assert not any(isinstance(handler, DiskSpace) for handler in policy())
