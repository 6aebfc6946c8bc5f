"""Stores that the real kube-apiserver left behind, in both of its encodings, are served as it served them."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from server_processes import ApiServer, Etcd, eventually, need_etcd, running

STORES = Path(__file__).parents[3] / "shared" / "golden" / "etcd"

pytestmark = [
    pytest.mark.etcd,
    pytest.mark.slow,
    pytest.mark.skipif(not STORES.is_dir(), reason="the recorded stores are not here"),
]


def documents(path):
    """Return the objects of several JSON lists, one after another."""
    decoder, text, objects, place = json.JSONDecoder(), path.read_text().strip(), [], 0
    while place < len(text):
        document, place = decoder.raw_decode(text, place)
        objects += document.get("items", [document])
        while text[place : place + 1].isspace():
            place += 1
    return objects


def is_the_servers_own(obj):
    """Tell whether an object is the Service of the API server itself, whose ports follow its flags at each start."""
    return obj["kind"] == "Service" and (obj["metadata"]["namespace"], obj["metadata"]["name"]) == (
        "default",
        "kubernetes",
    )


class Left:
    """A restored store, served by ours."""

    def __init__(self, kind, etcd, server):
        self.etcd, self.server = etcd, server
        self.objects = documents(STORES / kind / "expected.json")
        self.keys = [line for line in (STORES / kind / "keys.txt").read_text().splitlines() if line]

    def path(self, obj):
        base = "/api/v1" if obj["apiVersion"] == "v1" else f"/apis/{obj['apiVersion']}"
        found = eventually(lambda: self._resource(base, obj["kind"]), why=f"{base} {obj['kind']}")
        namespace = f"/namespaces/{obj['metadata']['namespace']}" if found["namespaced"] else ""
        return f"{base}{namespace}/{found['name']}"

    def _resource(self, base, kind):
        status, found = self.server.request("GET", base)
        resources = found["resources"] if status == 200 else []
        return next((one for one in resources if one["kind"] == kind and "/" not in one["name"]), None)


@pytest.fixture(scope="module", params=["json", "protobuf"])
def left(request, tmp_path_factory):
    need_etcd()
    folder = tmp_path_factory.mktemp(request.param)
    etcd = Etcd(folder)
    etcd.restore(STORES / request.param / "snapshot.db.gz", folder)
    server = ApiServer(folder, f"--etcd-servers={etcd.url}", "--authorization-mode=AlwaysAllow")
    with running(etcd, server):
        yield Left(request.param, etcd, server)


def test_every_object_is_served_as_it_was(left):
    assert len(left.objects) > 20
    for wanted in left.objects:
        got = left.server.get(f"{left.path(wanted)}/{wanted['metadata']['name']}")
        got["metadata"].pop("managedFields", None)  # kubectl does not print them
        if is_the_servers_own(wanted):
            got["metadata"]["resourceVersion"] = wanted["metadata"]["resourceVersion"]
            got["spec"]["ports"][0]["targetPort"] = wanted["spec"]["ports"][0]["targetPort"]

        assert got == wanted


def test_lists_show_the_same_resource_versions(left):
    wanted = {}
    for obj in left.objects:
        if is_the_servers_own(obj):
            continue
        place = wanted.setdefault(left.path(obj), {})
        place[obj["metadata"]["name"]] = obj["metadata"]["resourceVersion"]
    for path, versions in wanted.items():
        listed = {
            item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in left.server.get(path)["items"]
        }

        assert versions.items() <= listed.items()


def test_no_key_is_lost_but_the_leases_of_servers_that_are_gone(left):
    lost = set(left.keys) - set(left.etcd.registry_keys())

    assert [key for key in lost if not key.startswith("/registry/leases/kube-system/apiserver-")] == []


def test_a_write_without_a_change_leaves_json(left):
    obj = next(obj for obj in left.objects if obj["kind"] == "Deployment")
    meta = obj["metadata"]
    path = f"{left.path(obj)}/{meta['name']}"

    status, answer = left.server.put(path, left.server.get(path))
    stored = json.loads(left.etcd.value(f"/registry/deployments/{meta['namespace']}/{meta['name']}"))

    assert status == 200
    assert list(stored)[:2] == ["kind", "apiVersion"]
    assert not {"resourceVersion", "selfLink"} & stored["metadata"].keys()
    assert stored["spec"] == obj["spec"]
    assert answer["spec"] == obj["spec"]
