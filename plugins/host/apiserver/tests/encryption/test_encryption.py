import base64

import orjson
import pytest
import yaml
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hyperkube_host.apiserver.encryption import EncryptedValues, read_configuration
from hyperkube_host.apiserver.encryption.live import POLL_SECONDS
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.hookspecs.storage import Unreadable
from hyperkube.kinds.resources import CONFIG_MAPS, SECRETS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.users import UserInfo
from hyperkube.storage.memory import MemoryStore

ADMIN = UserInfo("admin", "", ("system:masters",))
KEY = "/registry/secrets/d/a"
OTHER = "/registry/secrets/d/b"


def secret(letter, size=32):
    return base64.b64encode(letter.encode() * size).decode()


def keyed(provider, *letters):
    return {provider: {"keys": [{"name": f"key-{letter}", "secret": secret(letter)} for letter in letters]}}


IDENTITY = {"identity": {}}
CBC_KEY = "resources[0].providers[0].aescbc.keys[0]"


@pytest.fixture
def write(tmp_path):
    def write_file(*providers, resources=("secrets",), **more):
        document = {
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "EncryptionConfiguration",
            "resources": [{"resources": list(resources), "providers": list(providers)}],
            **more,
        }
        path = tmp_path / "encryption.yaml"
        path.write_text(yaml.safe_dump(document))
        return str(path)

    return write_file


@pytest.fixture
def values(write):
    def make(*providers, resource="secrets"):
        return EncryptedValues(read_configuration(write(*providers)), lambda _key: GroupResource("", resource))

    return make


@pytest.mark.parametrize("provider", ["aescbc", "aesgcm", "secretbox"])
class TestProviders:
    def test_what_is_encrypted_can_be_read_again(self, values, provider):
        form = values(keyed(provider, "a"))
        for value in (b"", b"x", b"sixteen bytes!!!", b"{}" * 3000):
            stored = form.transform_to_storage(KEY, value)

            assert stored.startswith(f"k8s:enc:{provider}:v1:key-a:".encode())
            assert value not in stored or len(value) < 2
            assert form.transform_from_storage(KEY, stored) == (value, False)

    def test_no_two_encryptions_are_equal(self, values, provider):
        form = values(keyed(provider, "a"))

        assert form.transform_to_storage(KEY, b"value") != form.transform_to_storage(KEY, b"value")

    def test_the_first_key_writes_and_all_read(self, values, provider):
        old = values(keyed(provider, "a")).transform_to_storage(KEY, b"value")
        rotated = values(keyed(provider, "b", "a"))

        assert rotated.transform_from_storage(KEY, old) == (b"value", True)
        assert rotated.transform_from_storage(KEY, rotated.transform_to_storage(KEY, b"value")) == (b"value", False)

    def test_a_key_that_is_gone_is_missed(self, values, provider):
        old = values(keyed(provider, "a")).transform_to_storage(KEY, b"value")

        with pytest.raises(Unreadable, match="no matching key was found for the provided"):
            values(keyed(provider, "b")).transform_from_storage(KEY, old)

    def test_plain_values_need_identity(self, values, provider):
        with pytest.raises(Unreadable, match="no matching prefix found"):
            values(keyed(provider, "a")).transform_from_storage(KEY, b"{}")

        assert values(keyed(provider, "a"), IDENTITY).transform_from_storage(KEY, b"{}") == (b"{}", True)


@pytest.mark.parametrize("provider", ["aesgcm", "secretbox"])
def test_a_changed_value_is_noticed(values, provider):
    form = values(keyed(provider, "a"))
    stored = bytearray(form.transform_to_storage(KEY, b"value"))
    stored[-1] ^= 1

    with pytest.raises(Unreadable):
        form.transform_from_storage(KEY, bytes(stored))


def test_gcm_ties_a_value_to_its_place(values):
    form = values(keyed("aesgcm", "a"))

    with pytest.raises(Unreadable, match="cipher: message authentication failed"):
        form.transform_from_storage(OTHER, form.transform_to_storage(KEY, b"value"))


def test_cbc_is_what_any_aes_reads(values):
    """The initial vector first, then PKCS#7: as kubernetes ``pkg/storage/value/encrypt/aes/aes.go`` has it."""
    stored = values(keyed("aescbc", "a")).transform_to_storage(KEY, b"value").removeprefix(b"k8s:enc:aescbc:v1:key-a:")

    reader = Cipher(algorithms.AES(b"a" * 32), modes.CBC(stored[:16])).decryptor()

    assert reader.update(stored[16:]) + reader.finalize() == b"value" + b"\x0b" * 11


def test_decryption_is_left_by_putting_identity_first(values):
    old = values(keyed("aescbc", "a")).transform_to_storage(KEY, b"value")
    leaving = values(IDENTITY, keyed("aescbc", "a"))

    assert leaving.transform_from_storage(KEY, old) == (b"value", True)
    assert leaving.transform_to_storage(KEY, b"value") == b"value"
    with pytest.raises(Unreadable, match="identity transformer tried to read encrypted data"):
        values(IDENTITY).transform_from_storage(KEY, old)


def test_resources_without_a_rule_are_left_alone(values):
    form = values(keyed("aescbc", "a"), resource="configmaps")

    assert form.transform_to_storage(KEY, b"value") == b"value"
    assert form.transform_from_storage(KEY, b"value") == (b"value", False)


@pytest.mark.parametrize(
    ("pattern", "resource", "applies"),
    [
        ("secrets", GroupResource("", "secrets"), True),
        ("deployments.apps", GroupResource("apps", "deployments"), True),
        ("deployments", GroupResource("apps", "deployments"), False),
        ("*.apps", GroupResource("apps", "deployments"), True),
        ("*.apps", GroupResource("", "secrets"), False),
        ("*.", GroupResource("", "secrets"), True),
        ("*.", GroupResource("apps", "deployments"), False),
        ("*.*", GroupResource("example.com", "widgets"), True),
    ],
)
def test_resources_are_named_one_by_one_or_by_group(write, pattern, resource, applies):
    rules = read_configuration(write(IDENTITY, resources=[pattern]))

    assert bool(rules.providers(resource)) is applies


@pytest.mark.parametrize(
    ("providers", "message"),
    [
        ([], "resources[0].providers: at least one is required"),
        (
            [{"rot13": {}}],
            "resources[0].providers[0]: 'rot13' is not a provider (aescbc, aesgcm, secretbox, identity, kms)",
        ),
        ([{"kms": {}}], "resources[0].providers[0]: no plugin provides 'kms'"),
        ([{"aescbc": {"keys": []}}], "resources[0].providers[0].keys: at least one is required"),
        (
            [{"aescbc": {"keys": [{"name": "k", "secret": secret("a", 5)}]}}],
            f"{CBC_KEY}.secret: secret is not of the expected length, got 5, expected one of [16, 24, 32]",
        ),
        (
            [{"secretbox": {"keys": [{"name": "k", "secret": "%%%"}]}}],
            "resources[0].providers[0].secretbox.keys[0].secret: secrets must be base64 encoded",
        ),
        ([keyed("aesgcm", "a", "a")], "resources[0].providers[0].aesgcm.keys[1]: there is a key 'key-a' already"),
    ],
    ids=["none", "unknown", "kms", "no keys", "short key", "no base64", "twice"],
)
def test_a_wrong_file_is_refused_in_one_line(write, providers, message):
    path = write(*providers)

    with pytest.raises(UsageError) as caught:
        read_configuration(path)

    assert str(caught.value) == f"encryption configuration {path!r}: {message}"


def test_a_missing_file_is_refused():
    with pytest.raises(UsageError, match="'/nowhere' cannot be read: No such file or directory"):
        read_configuration("/nowhere")


class PluggedStore:
    """Lets servers that follow one another share a store in memory, through the server's own way of opening it."""

    def __init__(self, monkeypatch):
        self.store = MemoryStore(FakeClock())
        self.store.close = lambda: None
        monkeypatch.setattr("hyperkube_storage.memory.MemoryStore", lambda *_args, **_options: self.store)


@pytest.fixture
def serve(monkeypatch, write):
    pytest.importorskip("hyperkube_storage.memory")
    plugged, servers = PluggedStore(monkeypatch), []

    def start(*providers, reload=False, clock=None):
        options = {
            "storage-backend": "memory",
            "disable-admission-plugins": "ServiceAccount",
            "encryption-provider-config": write(*providers) if providers else "",
            "encryption-provider-config-automatic-reload": reload,
        }
        server = ApiServer(options=options, clock=clock)
        server.start()
        servers.append(server)
        return server.client(ADMIN), plugged.store

    yield start
    for server in servers:
        server.close()


class TestServer:
    @staticmethod
    def object(kind, name):
        field = {"stringData" if kind == "Secret" else "data": {"k": "plain words"}}
        return {"kind": kind, "apiVersion": "v1", "metadata": {"name": name, "namespace": "default"}, **field}

    def test_only_the_named_resources_are_encrypted(self, serve):
        client, store = serve(keyed("secretbox", "a"), IDENTITY)

        made = client.create(SECRETS, self.object("Secret", "s"), namespace="default")
        client.create(CONFIG_MAPS, self.object("ConfigMap", "c"), namespace="default")

        assert store.get("/registry/secrets/default/s").value.startswith(b"k8s:enc:secretbox:v1:key-a:")
        assert orjson.loads(store.get("/registry/configmaps/default/c").value)["data"] == {"k": "plain words"}
        assert client.get(SECRETS, "s", namespace="default") == made
        assert [item["metadata"]["name"] for item in client.list(SECRETS, namespace="default").items] == ["s"]

    def test_writing_everything_once_more_rotates_the_keys(self, serve):
        client, store = serve(keyed("aescbc", "a"), IDENTITY)
        client.create(SECRETS, self.object("Secret", "s"), namespace="default")

        client, _ = serve(keyed("aescbc", "b", "a"), IDENTITY)
        client.update(SECRETS, client.get(SECRETS, "s", namespace="default"))

        assert store.get("/registry/secrets/default/s").value.startswith(b"k8s:enc:aescbc:v1:key-b:")
        revision = store.revision()
        client.update(SECRETS, client.get(SECRETS, "s", namespace="default"))
        assert store.revision() == revision

    def test_a_changed_file_is_followed_without_a_restart(self, serve, write):
        clock = FakeClock()
        client, store = serve(keyed("aescbc", "a"), IDENTITY, reload=True, clock=clock)
        client.create(SECRETS, self.object("Secret", "s"), namespace="default")

        write(keyed("aescbc", "b", "a"), IDENTITY)
        clock.advance(POLL_SECONDS)
        client.update(SECRETS, client.get(SECRETS, "s", namespace="default"))
        rotated = store.get("/registry/secrets/default/s").value
        write({"aescbc": {"keys": []}})
        clock.advance(POLL_SECONDS)
        client.create(SECRETS, self.object("Secret", "t"), namespace="default")

        assert rotated.startswith(b"k8s:enc:aescbc:v1:key-b:")
        assert store.get("/registry/secrets/default/t").value.startswith(b"k8s:enc:aescbc:v1:key-b:")
        assert client.get(SECRETS, "s", namespace="default")["metadata"]["name"] == "s"

    def test_a_changed_file_is_left_alone_unless_told(self, serve, write):
        clock = FakeClock()
        client, store = serve(keyed("aescbc", "a"), clock=clock)

        write(keyed("aescbc", "b", "a"))
        clock.advance(POLL_SECONDS)
        client.create(SECRETS, self.object("Secret", "s"), namespace="default")

        assert store.get("/registry/secrets/default/s").value.startswith(b"k8s:enc:aescbc:v1:key-a:")

    def test_without_its_key_a_secret_is_an_error_and_the_rest_is_served(self, serve):
        client, _ = serve(keyed("aesgcm", "a"))
        client.create(SECRETS, self.object("Secret", "s"), namespace="default")
        client.create(CONFIG_MAPS, self.object("ConfigMap", "c"), namespace="default")

        client, _ = serve(keyed("aesgcm", "b"))

        with pytest.raises(ApiError, match='unable to transform key "/registry/secrets/default/s": no matching key'):
            client.get(SECRETS, "s", namespace="default")
        assert client.get(CONFIG_MAPS, "c", namespace="default")["data"] == {"k": "plain words"}


def test_a_file_that_is_not_there_cannot_be_followed():
    options = {"storage-backend": "memory", "encryption-provider-config-automatic-reload": True}

    with pytest.raises(UsageError, match="must be set with --encryption-provider-config"):
        ApiServer(options=options)
