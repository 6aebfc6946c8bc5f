"""glusterfs volumes: the command lines of kubernetes ``pkg/volume/glusterfs/glusterfs.go``, and what fails."""

import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished, HostPrograms, Mounter
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, VolumeContract
from hyperkube_volume.glusterfs import GlusterfsVolumes, servers_of

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import ENDPOINTS
from hyperkube.machinery.errors import NotFound

SOURCE = {"endpoints": "gluster", "path": "vol"}


def endpoints(namespace, *subsets):
    rows = [{"addresses": [{"ip": ip} for ip in subset]} for subset in subsets]
    return {"metadata": {"name": "gluster", "namespace": namespace}, "subsets": rows}


class Bench:
    """The kind in a cluster with the Endpoints of two namespaces."""

    def __init__(self, folder, answers=None):
        self.programs = FakePrograms(answers)
        self.client = FakeClient()
        self.client.seed(
            ENDPOINTS,
            endpoints("ns", ["10.0.0.1", "10.0.0.2"], ["10.0.0.2", "10.0.0.3"]),
            endpoints("far", ["10.9.9.9"]),
        )
        self.kind = GlusterfsVolumes(self.client, Mounter(self.programs, table=list))
        self.path, self.plugin_dir = folder / "v", folder / "plugins"

    def request(self, source=None, *, options=None, **more):
        volume = {"name": "v", "glusterfs": source or SOURCE}
        if options is not None:
            volume["mountOptions"] = options
            more["persistent_volume"] = {"metadata": {"name": "pv"}, "spec": volume}
        request = TestContract().request(self.path, volume)
        return replace(request, **{"plugin_dir": str(self.plugin_dir), **more})

    def log(self, volume="v"):
        return f"{self.plugin_dir}/{volume}/p-uid-glusterfs.log"

    def mounted(self):
        return replace(TestContract().mounted(self.path), plugin_dir=str(self.plugin_dir))


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"glusterfs": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"glusterfs": SOURCE}}

    def kind(self):
        return Bench(Path("/nowhere")).kind


SERVERS = "backup-volfile-servers=10.0.0.1:10.0.0.2:10.0.0.3"


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ({}, f"-o log-file=LOG,log-level=ERROR,{SERVERS},auto_unmount 10.0.0.1:vol"),
        ({"read_only": True}, f"-o ro,log-file=LOG,log-level=ERROR,{SERVERS},auto_unmount 10.0.0.1:vol"),
        (
            {"source": {**SOURCE, "readOnly": True}},
            f"-o ro,log-file=LOG,log-level=ERROR,{SERVERS},auto_unmount 10.0.0.1:vol",
        ),
        (
            {"options": ["log-file=/var/log/g", "acl"]},
            f"-o log-level=ERROR,{SERVERS},auto_unmount,log-file=/var/log/g,acl 10.0.0.1:vol",
        ),
        ({"options": []}, f"-o log-file=PVLOG,log-level=ERROR,{SERVERS},auto_unmount 10.0.0.1:vol"),
        (
            {"options": [], "source": {**SOURCE, "endpointsNamespace": "far"}},
            "-o log-file=PVLOG,log-level=ERROR,backup-volfile-servers=10.9.9.9,auto_unmount 10.9.9.9:vol",
        ),
        (
            {"source": {**SOURCE, "endpointsNamespace": "far"}},
            f"-o log-file=LOG,log-level=ERROR,{SERVERS},auto_unmount 10.0.0.1:vol",
        ),
        ({"plugin_dir": ""}, f"-o log-level=ERROR,{SERVERS},auto_unmount 10.0.0.1:vol"),
    ],
    ids=[
        "writable", "mounts read-only", "source read-only", "a log of its own", "persistent", "another namespace",
        "a pod may name no namespace", "no folder for logs",
    ],
)  # fmt: skip
def test_what_is_mounted(tmp_path, wanted, line):
    bench = Bench(tmp_path)

    path = bench.kind.setup(bench.request(**wanted))

    expected = line.replace("PVLOG", bench.log("pv")).replace("LOG", bench.log())
    assert path == str(bench.path)
    assert bench.programs.ran == [f"mount -t glusterfs {expected} {path}"]


@pytest.mark.parametrize("said", ["Invalid option auto_unmount", "mount: Invalid argument"])
def test_a_client_that_does_not_know_auto_unmount_mounts_without(tmp_path, said):
    bench = Bench(tmp_path)
    first = f"mount -t glusterfs -o log-file={bench.log()},log-level=ERROR,{SERVERS},auto_unmount"
    bench.programs.answers[first] = Finished(1, said)

    bench.kind.setup(bench.request())

    assert bench.programs.ran[1:] == [
        f"mount -t glusterfs -o log-file={bench.log()},log-level=ERROR,{SERVERS} 10.0.0.1:vol {bench.path}"
    ]


class Client(FakePrograms):
    """A client that fails, with a reason in its log."""

    def __init__(self, log, text):
        super().__init__({"mount": Finished(1, "Mounting glusterfs on v failed.")})
        self.log, self.text = Path(log), text

    def run(self, arguments, given=""):
        if self.text is not None:
            self.log.write_text(self.text)
        return super().run(arguments, given)


FIRST = "E [glusterfsd-mgmt.c:2170:mgmt_getspec_cbk] 0-glusterfs: failed to get the 'volume file' from server"
SECOND = "E [glusterfsd-mgmt.c:2371:mgmt_getspec_cbk] 0-mgmt: failed to fetch volume file (key:vol)"


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (None, []),
        ("", []),
        (f"[2026-11-29 10:13:43.562074 +0000] {SECOND}\n", [SECOND]),
        (
            "x" * 9000 + f"\n[2026-11-29 10:13:43 +0000] {FIRST}\n[2026-11-29 10:13:44 +0000] {SECOND}\n",
            [FIRST, SECOND],
        ),
    ],
    ids=["no log", "empty", "one line", "the last two"],
)
def test_a_mount_that_fails_tells_the_end_of_the_log_and_leaves_nothing(tmp_path, log, told):
    bench = Bench(tmp_path)
    bench.kind = GlusterfsVolumes(bench.client, Mounter(Client(bench.log(), log), table=list))

    with pytest.raises(VolumeFailed) as caught:
        bench.kind.setup(bench.request())

    before, _, after = str(caught.value).partition("the following error information was pulled from the glusterfs log")
    assert before.endswith("Output: Mounting glusterfs on v failed.\n")
    assert after.splitlines()[1:] == told
    assert not bench.path.exists()
    assert list(bench.plugin_dir.iterdir()) == []


@pytest.mark.parametrize(
    ("subsets", "servers"),
    [
        ([["10.0.0.1"]], ["10.0.0.1"]),
        ([["10.0.0.2", "10.0.0.1"], ["10.0.0.1", "10.0.0.3"]], ["10.0.0.2", "10.0.0.1", "10.0.0.3"]),
        ([[]], []),
        ([], []),
    ],
)
def test_servers_are_addresses_each_once(subsets, servers):
    assert servers_of(endpoints("ns", *subsets)) == servers


@pytest.mark.parametrize(
    ("source", "persistent", "text"),
    [
        ({"path": "vol"}, False, "no glusterFS endpoint specified"),
        (
            {**SOURCE, "endpointsNamespace": ""},
            True,
            "endpointnamespace field set, but no endpointnamespace specified",
        ),
        (
            {**SOURCE, "endpoints": "empty"},
            False,
            "failed to execute mount command:[no valid ipaddress found in endpoint address list]",
        ),
    ],
    ids=["no endpoints", "empty namespace", "no addresses"],
)
def test_what_is_refused(tmp_path, source, persistent, text):
    bench = Bench(tmp_path)
    bench.client.seed(ENDPOINTS, {"metadata": {"name": "empty", "namespace": "ns"}})

    with pytest.raises(VolumeFailed, match=f"^{re.escape(text)}$"):
        bench.kind.setup(bench.request(source, options=[] if persistent else None))

    assert bench.programs.ran == []


def test_endpoints_that_are_not_there_are_named(tmp_path):
    bench = Bench(tmp_path)

    with pytest.raises(NotFound, match='endpoints "other" not found'):
        bench.kind.setup(bench.request({**SOURCE, "endpoints": "other"}))


def test_a_kubelet_without_an_api_server_says_so(tmp_path):
    bench = Bench(tmp_path)

    with pytest.raises(VolumeFailed, match="failed to get kube client"):
        GlusterfsVolumes(None, Mounter(bench.programs, table=list)).setup(bench.request())


def test_the_log_goes_with_its_pod(tmp_path):
    bench = Bench(tmp_path)
    bench.kind.setup(bench.request())
    log, other = Path(bench.log()), Path(bench.log()).with_name("q-other-glusterfs.log")
    log.touch()
    other.touch()

    bench.kind.teardown(bench.mounted())
    assert (log.exists(), other.exists()) == (False, True)

    bench.kind.teardown(replace(bench.mounted(), pod_uid="other"))
    assert list(bench.plugin_dir.iterdir()) == []


def test_programs_in_a_path_of_the_tests_own(tmp_path):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/mount"
    program.write_text(f'#!/bin/sh\necho "mount $*" > {tmp_path}/line\n')
    program.chmod(0o755)
    bench = Bench(tmp_path)
    mounter = Mounter(HostPrograms(environment={"PATH": str(tmp_path / "bin")}), table=list)

    GlusterfsVolumes(bench.client, mounter).setup(bench.request())

    options = f"log-file={bench.log()},log-level=ERROR,{SERVERS},auto_unmount"
    assert (tmp_path / "line").read_text() == f"mount -t glusterfs -o {options} 10.0.0.1:vol {bench.path}\n"
