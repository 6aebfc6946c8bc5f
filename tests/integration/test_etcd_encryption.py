"""Encryption at rest on both backends: keys are rotated while the server runs, and nothing stays under the old one."""

import base64
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "plugins/storage/kms/tests"))

from key_server import KeyServer
from server_processes import ApiServer, Etcd, eventually, need_etcd, running

pytestmark = pytest.mark.slow

SECRETS = "/api/v1/namespaces/default/secrets"
OPEN = ("--authorization-mode=AlwaysAllow", "--disable-admission-plugins=ServiceAccount")


def write_configuration(path, *letters):
    keys = [{"name": f"key-{letter}", "secret": base64.b64encode(letter.encode() * 32).decode()} for letter in letters]
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": ["secrets"], "providers": [{"aesgcm": {"keys": keys}}]}],
    }
    path.write_text(json.dumps(document))


@pytest.fixture(params=["sqlite", pytest.param("etcd", marks=pytest.mark.etcd)])
def backend(request, tmp_path):
    """Return the flags of a backend, and what returns the bytes that it has on disk."""
    if request.param == "sqlite":
        data = tmp_path / "data"
        flags = ("--storage-backend=sqlite", f"--data-dir={data}")
        yield flags, lambda: b"".join(path.read_bytes() for path in sorted(data.iterdir()) if path.is_file())
        return
    need_etcd()
    etcd = Etcd(tmp_path)
    with running(etcd):
        yield (
            (f"--etcd-servers={etcd.url}",),
            lambda: b"".join(etcd.value(f"/registry/secrets/default/s{number}") for number in range(3)),
        )


def test_keys_are_rotated_without_a_restart(backend, tmp_path):
    flags, stored = backend
    path = tmp_path / "encryption.json"
    write_configuration(path, "a")
    reload = f"--encryption-provider-config={path}", "--encryption-provider-config-automatic-reload"
    server = ApiServer(tmp_path, *flags, *reload, *OPEN)
    with running(server):
        made = [
            server.post(SECRETS, {"metadata": {"name": f"s{number}"}, "stringData": {"k": "plain words"}})[1]
            for number in range(3)
        ]
        before = stored()

        write_configuration(path, "b", "a")
        eventually(lambda: write_probe(server, stored), 60)
        for item in server.get(SECRETS)["items"]:
            assert server.put(f"{SECRETS}/{item['metadata']['name']}", item)[0] == 200
        server.stop()
        write_configuration(path, "b")
        server.start()
        items = server.get(SECRETS)["items"]

    assert before.count(b"k8s:enc:aesgcm:v1:key-a:") >= 3
    assert b"plain words" not in before
    assert b"k8s:enc:aesgcm:v1:key-b:" in stored()
    assert [item["data"] for item in items] == [item["data"] for item in made]


def write_probe(server, stored):
    """Write one of the secrets again as it is; tell whether it is stored under the new key."""
    server.put(f"{SECRETS}/s0", server.get(f"{SECRETS}/s0"))
    return b"k8s:enc:aesgcm:v1:key-b:" in stored()


def test_a_kms_encrypts_and_its_health_is_the_servers(backend, tmp_path):
    flags, stored = backend
    kms = KeyServer(tmp_path)
    path = tmp_path / "encryption.json"
    provider = {"kms": {"apiVersion": "v2", "name": "vault", "endpoint": kms.endpoint}}
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": ["secrets"], "providers": [provider]}],
    }
    path.write_text(json.dumps(document))
    reload = f"--encryption-provider-config={path}", "--encryption-provider-config-automatic-reload"
    server = ApiServer(tmp_path, *flags, *reload, *OPEN)
    with running(server):
        for number in range(3):
            made = {"metadata": {"name": f"s{number}"}, "stringData": {"k": "plain words"}}
            assert server.post(SECRETS, made)[0] == 201
        data = [item["data"] for item in server.get(SECRETS)["items"]]
        healthy = server.request("GET", "/healthz/kms-providers")
        kms.health = "sealed"
        sealed = server.request("GET", "/healthz/kms-providers")[0], server.request("GET", "/readyz")[0]
        kms.health = "ok"
        server.kill()
        server.start()
        again = [item["data"] for item in server.get(SECRETS)["items"]]
    kms.stop()

    assert b"k8s:enc:kms:v2:vault:" in stored()
    assert b"plain words" not in stored()
    assert (healthy, sealed) == ((200, "ok"), (500, 500))
    assert again == data
    assert kms.calls.count("decrypt") <= 1
