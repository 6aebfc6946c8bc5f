"""Values encrypted with the help of a KMS server, which runs in the test behind a unix socket."""

import logging
import sys
from pathlib import Path

import pytest
from hyperkube_storage.kms import Kms, messages
from hyperkube_storage.kms.envelope import SEED, UNHEALTHY_SECONDS, VALID_SECONDS, Envelope

from hyperkube.hookspecs.storage import Unreadable
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.storage.store import StoreUnavailable
from hyperkube.testing.waiting import eventually

sys.path.insert(0, str(Path(__file__).parent))

from key_server import KeyServer

KEY, OTHER = b"/registry/secrets/d/a", b"/registry/secrets/d/b"


@pytest.fixture
def server(tmp_path):
    server = KeyServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def provide(server, clock):
    made = []

    def provide(**more):
        plugin = Kms(PluginContext(name="kms", clock=clock))
        settings = {"apiVersion": "v2", "name": "vault", "endpoint": server.endpoint, **more}
        made.append(plugin.storage_encrypt(provider="kms", settings=settings))
        return made[-1]

    yield provide
    for provider in made:
        provider.close()


def test_a_value_comes_back(provide):
    provider = provide()

    stored = provider.transform_to_storage(b"plain words", KEY)

    assert stored.startswith(b"k8s:enc:kms:v2:vault:")
    assert b"plain words" not in stored
    assert provider.transform_from_storage(stored, KEY) == (b"plain words", False)


def test_what_is_stored_is_what_kubernetes_stores(provide):
    provider = provide()

    stored = messages.EncryptedObject.FromString(provider.transform_to_storage(b"v", KEY).removeprefix(provider.prefix))

    assert (stored.key_id, stored.encrypted_dek_source_type) == ("key-1", SEED)
    assert dict(stored.annotations) == {"a.example": b"1"}
    assert len(stored.encrypted_data) == 32 + 12 + 1 + 16, "info, nonce, value, tag"
    assert len(stored.encrypted_dek_source) == 32


def test_the_kms_is_asked_once_for_many_values(provide, server):
    provider = provide()
    stored = [provider.transform_to_storage(b"v", KEY) for _ in range(5)]
    other = provide()
    other.check()

    assert {other.transform_from_storage(one, KEY) for one in stored} == {(b"v", False)}
    assert server.calls.count("decrypt") == 1
    assert server.calls.count("encrypt") <= 2


def test_another_place_or_a_changed_value_is_unreadable(provide):
    provider = provide()
    stored = provider.transform_to_storage(b"v", KEY)

    for changed, context in ((stored, OTHER), (stored[:-1], KEY), (provider.prefix + b"\xff", KEY)):
        with pytest.raises(Unreadable):
            provider.transform_from_storage(changed, context)


def test_a_new_key_makes_old_values_stale(provide, server):
    provider = provide()
    old = provider.transform_to_storage(b"v", KEY)

    server.key_id = "key-2"
    provider.check()
    new = provider.transform_to_storage(b"v", KEY)

    assert provider.transform_from_storage(old, KEY) == (b"v", True)
    assert provider.transform_from_storage(new, KEY) == (b"v", False)


def test_the_seed_outlives_a_kms_that_is_away_for_a_while(provide, server, clock):
    provider = provide()
    provider.check()
    server.stop()

    stored = provider.transform_to_storage(b"v", KEY)
    clock.advance(VALID_SECONDS + 1)

    assert provider.transform_from_storage(stored, KEY) == (b"v", False)
    with pytest.raises(StoreUnavailable, match="kms Status"):
        provider.transform_to_storage(b"v", KEY)


def test_health_is_what_the_kms_says(provide, server):
    provider = provide()
    assert provider.check()

    server.health = "sealed"

    with pytest.raises(StoreUnavailable, match="kms 'vault' is unhealthy: sealed"):
        provider.check()


class Faulty:
    """A service with a bug."""

    asked = 0

    def status(self):
        self.asked += 1
        raise RuntimeError("a bug")

    def close(self):
        pass


def test_a_bug_does_not_end_the_questions_for_the_key(clock, caplog):
    caplog.set_level(logging.CRITICAL)
    service = Faulty()
    provider = Envelope("vault", service, clock)

    assert eventually(lambda: clock.advance(UNHEALTHY_SECONDS) or service.asked >= 3)
    provider.close()


def test_a_provider_that_was_closed_asks_no_more(provide):
    provider = provide()
    provider.close()

    with pytest.raises(StoreUnavailable, match="kms Status: closed"):
        provider.check()


def test_a_seed_that_the_kms_does_not_decrypt_is_unreadable(provide, server, caplog):
    caplog.set_level(logging.CRITICAL)
    provider = provide()
    stored = messages.EncryptedObject.FromString(provider.transform_to_storage(b"v", KEY).removeprefix(provider.prefix))
    stored.key_id = "unknown"

    with pytest.raises(Unreadable, match="failed to decrypt DEK, error: kms Decrypt: no such key"):
        provider.transform_from_storage(provider.prefix + stored.SerializeToString(), KEY)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"apiVersion": "v1"}, "kms.apiVersion: only v2 is supported"),
        ({"name": "a:b"}, "kms.name: 'a:b' must be a name without a colon"),
        ({"endpoint": "tcp://x"}, "kms.endpoint: 'tcp://x' must be a unix socket"),
        ({"timeout": "soon"}, "kms.timeout: 'soon' must be a duration"),
    ],
    ids=["version", "name", "endpoint", "timeout"],
)
def test_a_wrong_entry_is_refused(provide, settings, message):
    with pytest.raises(UsageError) as caught:
        provide(**settings)

    assert str(caught.value).startswith(message)


def test_another_provider_is_none_of_its_business(clock):
    plugin = Kms(PluginContext(name="kms", clock=clock))

    assert plugin.storage_encrypt(provider="hsm", settings={}) is None


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"ciphertext": b"", "key_id": "k"}, "encrypted DEK source is empty"),
        ({"ciphertext": bytes(1025), "key_id": "k"}, "encrypted DEK source is 1025 bytes, which exceeds the max size"),
        ({"ciphertext": b"x", "key_id": ""}, "keyID is empty"),
        ({"ciphertext": b"x", "key_id": "k" * 1025}, "keyID is 1025 bytes, which exceeds the max size of 1024"),
        ({"ciphertext": b"x", "key_id": "k", "annotations": {"plain": b""}}, "'plain' should be a domain"),
        ({"ciphertext": b"x", "key_id": "k", "annotations": {"a.b": bytes(32 * 1024)}}, "total size of annotations"),
    ],
)
def test_no_answer_of_the_kms_makes_objects_large_or_unreadable(provide, server, monkeypatch, answer, says):
    monkeypatch.setattr(server, "encrypt", lambda _request, _context: messages.EncryptResponse(**answer))
    server.stop()
    server.start()

    with pytest.raises(StoreUnavailable, match=says):
        provide().check()


@pytest.mark.parametrize("plaintext", [b"", b"short", bytes(1000)])
def test_what_is_no_key_makes_one_value_unreadable(provide, server, monkeypatch, plaintext):
    provider = provide()
    monkeypatch.setattr(server, "decrypt", lambda _request, _context: messages.DecryptResponse(plaintext=plaintext))
    server.stop()
    server.start()
    for kind in (0, 1):
        found = messages.EncryptedObject(
            encrypted_data=bytes(100), key_id="key-1", encrypted_dek_source=b"x", encrypted_dek_source_type=kind
        )
        with pytest.raises(Unreadable):
            provider.transform_from_storage(provider.prefix + found.SerializeToString(), KEY)
