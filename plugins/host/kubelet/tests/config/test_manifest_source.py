"""Static pods from files and URLs."""

import pytest
from hyperkube_host.kubelet.config.manifest_source import ManifestSource, read_folder, static_pod

from hyperkube.machinery.clock import FakeClock

MANIFEST = b"kind: Pod\napiVersion: v1\nmetadata: {name: web}\nspec: {containers: [{name: c, image: host}]}\n"
EVICTED = {"operator": "Exists", "effect": "NoExecute"}


class Sink:
    def __init__(self):
        self.told = []

    def put(self, pod):
        self.told.append(("put", pod["metadata"]["name"], pod["metadata"]["uid"]))

    def remove(self, pod):
        self.told.append(("remove", pod["metadata"]["name"], pod["metadata"]["uid"]))


def source(read, sink, clock=None):
    return ManifestSource("file", read, 20, "n1", clock or FakeClock(), sink)


def test_a_folder_is_read_again_and_again(tmp_path):
    sink, clock = Sink(), FakeClock()
    watching = source(lambda: read_folder(tmp_path), sink, clock)
    watching.start()
    (tmp_path / "web.yaml").write_bytes(MANIFEST)
    (tmp_path / ".hidden.yaml").write_bytes(MANIFEST)

    clock.advance(20)
    (tmp_path / "web.yaml").unlink()
    clock.advance(20)
    watching.close()

    assert [(word, name) for word, name, _ in sink.told] == [("put", "web-n1"), ("remove", "web-n1")]


def test_a_changed_manifest_is_another_pod(tmp_path):
    sink = Sink()
    watching = source(lambda: read_folder(tmp_path), sink)
    (tmp_path / "web.yaml").write_bytes(MANIFEST)
    watching.read_once()

    (tmp_path / "web.yaml").write_bytes(MANIFEST.replace(b"host", b"other"))
    watching.read_once()

    assert [word for word, _, _ in sink.told] == ["put", "remove", "put"]
    assert sink.told[0][2] != sink.told[2][2]


def test_a_uid_of_the_manifest_stays_when_it_changes(tmp_path):
    sink, named = Sink(), MANIFEST.replace(b"name: web", b"name: web, uid: u1")
    watching = source(lambda: read_folder(tmp_path), sink)
    for content in (named, named, named.replace(b"host", b"other")):
        (tmp_path / "web.yaml").write_bytes(content)
        watching.read_once()

    assert sink.told == [("put", "web-n1", "u1")] * 2


@pytest.mark.parametrize(("kind", "expected"), [("file", [EVICTED]), ("http", [])])
def test_pods_of_files_tolerate_what_evicts(kind, expected):
    manifest = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c"}]}}
    tolerant = {**manifest, "spec": {**manifest["spec"], "tolerations": [EVICTED]}}

    found = [static_pod(one, kind, "n1", "/a", "now")["spec"].get("tolerations", []) for one in (manifest, tolerant)]

    assert found == [expected, [EVICTED]]


def test_a_bad_manifest_does_not_hide_the_others():
    sink = Sink()
    watching = source(lambda: [("bad", b"kind: Service"), ("worse", b"- 1"), ("good", MANIFEST)], sink)

    watching.read_once()

    assert [name for _, name, _ in sink.told] == ["web-n1"]


def test_a_place_that_cannot_be_read_leaves_things_as_they_are():
    def read():
        raise OSError("no route")

    sink = Sink()
    watching = source(read, sink)

    watching.read_once()

    assert (sink.told, watching.ready()) == ([], False)


def test_a_static_pod_carries_its_origin():
    pod = static_pod(
        {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c"}]}}, "file", "n1", "/a", "now"
    )

    meta = pod["metadata"]
    assert (meta["name"], meta["namespace"], pod["spec"]["nodeName"]) == ("web-n1", "default", "n1")
    assert meta["annotations"]["kubernetes.io/config.source"] == "file"
    assert meta["annotations"]["kubernetes.io/config.hash"] == meta["uid"]


def test_a_static_pod_requests_what_it_is_limited_to():
    limits = {"cpu": "1", "memory": "1Gi"}
    container = {"name": "c", "resources": {"limits": limits}}
    manifest = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}}

    pod = static_pod(manifest, "file", "n1", "/a", "now")

    assert pod["spec"]["containers"][0]["resources"] == {"limits": limits, "requests": limits}
    assert "requests" not in manifest["spec"]["containers"][0]["resources"]
