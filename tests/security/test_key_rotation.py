"""A key that is taken away takes its tokens and values along; one that is kept beside a new one does not."""

import json
from base64 import b64encode

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.certificates import signing_key
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_storage.sqlite import SqliteStore

from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.store import Put

SECRETS, ACCOUNTS = "/api/v1/namespaces/default/secrets", "/api/v1/namespaces/default/serviceaccounts"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


class Rig:
    """One store, and a server on it that is started again with other keys."""

    def __init__(self, folder):
        self.folder, self.server = folder, None
        for name in ("old", "new"):
            private, public = signing_key()
            (folder / f"{name}.key").write_bytes(private)
            (folder / f"{name}.pub").write_bytes(public)

    def start(self, signing, verifying, encryption=()):
        self.close()
        keys = [{"name": name, "secret": b64encode(name.encode().ljust(32, b"!")).decode()} for name in encryption]
        providers = [{"aesgcm": {"keys": keys}}] if keys else [{"identity": {}}]
        resources = [{"resources": ["secrets"], "providers": providers}]
        file = self.folder / "encryption.json"
        file.write_text(
            json.dumps(
                {"kind": "EncryptionConfiguration", "apiVersion": "apiserver.config.k8s.io/v1", "resources": resources}
            )
        )
        options = {
            "authorization-mode": ["AlwaysAllow"],
            "admission-control": ["AlwaysAdmit"],
            "service-account-issuer": ["https://issuer.example"],
            "service-account-signing-key-file": str(self.folder / f"{signing}.key"),
            "service-account-key-file": [str(self.folder / f"{name}.pub") for name in verifying],
            "encryption-provider-config": str(file),
            "storage-backend": "sqlite",
            "data-dir": str(self.folder / "data"),
        }
        self.server = ApiServer(options=options)
        self.server.start()

    def close(self):
        if self.server is not None:
            self.server.close()
            self.server = None

    def stored(self, name, new=None):
        """Return what the file has of a secret, and write it elsewhere; the server is gone after that."""
        self.close()
        (path,) = (self.folder / "data").glob("*.db")
        store = SqliteStore(path)
        value = store.get(f"/registry/secrets/default/{name}").value
        if new:
            store.txn([], [Put(f"/registry/secrets/default/{new}", value)])
        store.close()
        return value

    def ask(self, method, path, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        request = HttpRequest(
            method=method, path=path, body=text, headers={"content-type": "application/json"}, user=LOOPBACK
        )
        answer = self.server.handler.handle(request)
        return answer.status, json.loads(answer.body)

    def token(self):
        return self.ask("POST", f"{ACCOUNTS}/robot/token", {"spec": {}})[1]["status"]["token"]

    def is_good(self, token):
        return self.ask("POST", REVIEWS, {"spec": {"token": token}})[1]["status"].get("authenticated", False)


@pytest.fixture
def rig(tmp_path):
    rig = Rig(tmp_path)
    yield rig
    rig.close()


def test_tokens_go_with_the_key_that_signed_them(rig):
    rig.start("old", ["old"])
    rig.ask("POST", ACCOUNTS, {"metadata": {"name": "robot"}})
    old = rig.token()
    assert rig.is_good(old)

    rig.start("new", ["new", "old"])
    new = rig.token()
    assert (rig.is_good(old), rig.is_good(new)) == (True, True)

    rig.start("new", ["new"])
    assert (rig.is_good(old), rig.is_good(new)) == (False, True)


def test_values_go_with_the_key_that_encrypted_them(rig):
    rig.start("old", ["old"], ["first"])
    assert rig.ask("POST", SECRETS, {"metadata": {"name": "s"}, "stringData": {"k": "hush"}})[0] == 201
    stored = rig.stored("s")
    assert (stored.startswith(b"k8s:enc:aesgcm:v1:first:"), b"hush" in stored) == (True, False)

    rig.start("old", ["old"], ["second", "first"])
    status, secret = rig.ask("GET", f"{SECRETS}/s")
    assert status == 200
    assert rig.ask("PUT", f"{SECRETS}/s", secret)[0] == 200
    assert rig.stored("s").startswith(b"k8s:enc:aesgcm:v1:second:")

    rig.start("old", ["old"], ["second"])
    assert rig.ask("GET", f"{SECRETS}/s")[0] == 200

    for keys in (["third"], []):
        rig.start("old", ["old"], keys)
        assert rig.ask("GET", f"{SECRETS}/s")[0] == 500
        status, answer = rig.ask("GET", SECRETS)
        assert (status, answer["reason"]) == (
            500,
            "StorageReadError",
        )  # as in Kubernetes: no list hides undecryptable values


def test_a_value_does_not_move_to_another_place(rig):
    rig.start("old", ["old"], ["first"])
    rig.ask("POST", SECRETS, {"metadata": {"name": "s"}, "stringData": {"k": "hush"}})

    rig.stored("s", new="mine")

    rig.start("old", ["old"], ["first"])
    assert [rig.ask("GET", f"{SECRETS}/{name}")[0] for name in ("s", "mine")] == [200, 500]
