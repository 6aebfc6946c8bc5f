import socket
import threading

import grpc
import pytest
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.watch_cache import StoreCache
from hyperkube_storage.etcd import Access, Etcd, EtcdStore
from hyperkube_storage.etcd.answers import CompactedAway, translate
from hyperkube_storage.etcd.compaction import KEY, Compaction
from hyperkube_storage.etcd.endpoints import Endpoints
from hyperkube_storage.etcd.store import trusts_progress
from hyperkube_testing.beside import module_beside

from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import (
    Compacted,
    FutureRevision,
    LeaseNotFound,
    Put,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

Refusal = module_beside(__file__, "refusal").Refusal


@pytest.mark.parametrize(
    ("servers", "more", "message"),
    [
        ([], {}, "--etcd-servers must be specified"),
        (["ftp://x"], {}, "etcd server 'ftp://x' is not a URL such as http://127.0.0.1:2379"),
        (["https://x:2379"], {}, "etcd server 'https://x:2379' needs --etcd-cafile"),
        (["http://x"], {"cert_file": "c"}, "--etcd-certfile and --etcd-keyfile go together"),
    ],
    ids=["none", "scheme", "no authority", "half a certificate"],
)
def test_an_unusable_access_is_refused(servers, more, message):
    with pytest.raises(UsageError) as caught:
        EtcdStore(Access(servers, **more), history_seconds=0)

    assert str(caught.value) == message


def test_addresses_have_etcds_port_unless_they_name_one():
    addresses = Access(["http://a", "b:1234", "http://[::1]:5"]).addresses()

    assert addresses == [("a", 2379, False), ("b", 1234, False), ("::1", 5, False)]


@pytest.mark.parametrize(
    ("version", "trusted"),
    [
        ("3.4.23", False),
        ("3.4.25", True),
        ("3.5.7", False),
        ("3.5.8", True),
        ("3.6.0-rc.1", True),
        ("2.3.8", False),
        ("?", False),
    ],
)
def test_progress_reports_are_trusted_by_version(version, trusted):
    assert trusts_progress(version) is trusted


@pytest.mark.parametrize(
    ("code", "details", "expected"),
    [
        ("OUT_OF_RANGE", "etcdserver: mvcc: required revision has been compacted", CompactedAway),
        ("OUT_OF_RANGE", "etcdserver: mvcc: required revision is a future revision", FutureRevision),
        ("NOT_FOUND", "etcdserver: requested lease not found", LeaseNotFound),
        ("RESOURCE_EXHAUSTED", "etcdserver: mvcc: database space exceeded", StoreFull),
        ("INVALID_ARGUMENT", "etcdserver: request is too large", StoreError),
        ("UNAVAILABLE", "etcdserver: no leader", StoreUnavailable),
        ("DEADLINE_EXCEEDED", "Deadline Exceeded", StoreUnavailable),
    ],
)
def test_etcds_answers_become_store_errors(code, details, expected):
    assert type(translate(Refusal(grpc.StatusCode[code], details))) is expected


class FakeAccess(Access):
    """Members that are plain names; connecting to one returns the name."""

    def connect(self, address, tunnel=None):
        return address.host


class TestEndpoints:
    @pytest.fixture
    def endpoints(self):
        return Endpoints(FakeAccess(["http://a", "http://b"]))

    @staticmethod
    def only(member, failure, calls):
        def call(client):
            calls.append(client)
            if client != member:
                raise failure
            return "answer"

        return call

    def test_a_read_goes_to_the_next_member(self, endpoints):
        calls = []
        away = Refusal(grpc.StatusCode.UNAVAILABLE, "socket closed")

        assert endpoints.read(self.only("b", away, calls)) == "answer"
        assert endpoints.read(self.only("b", away, calls)) == "answer"
        assert calls == ["a", "b", "b"]

    def test_a_write_of_unknown_outcome_is_not_repeated(self, endpoints):
        calls = []

        with pytest.raises(StoreUnavailable):
            endpoints.write(self.only("b", Refusal(grpc.StatusCode.UNAVAILABLE, "socket closed"), calls))

        assert calls == ["a"]
        assert endpoints.write(self.only("b", None, calls)) == "answer"

    def test_a_write_that_was_never_sent_is(self, endpoints):
        calls = []

        endpoints.write(
            self.only("b", Refusal(grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses"), calls)
        )

        assert calls == ["a", "b"]

    def test_an_old_login_is_made_anew(self, endpoints):
        calls = []

        endpoints.write(
            self.only("b", Refusal(grpc.StatusCode.UNAUTHENTICATED, "etcdserver: invalid auth token"), calls)
        )

        assert calls == ["a", "b"]

    def test_a_refusal_is_final(self, endpoints):
        calls = []

        with pytest.raises(FutureRevision):
            endpoints.read(self.only("b", Refusal(grpc.StatusCode.OUT_OF_RANGE, "is a future revision"), calls))

        assert calls == ["a"]


def test_of_several_servers_one_compacts():
    store = MemoryStore()
    first, second = (Compaction(store, FakeClock(), 300) for _ in range(2))
    old = store.txn([], [Put("/a", b"1")]).revision
    first.step()
    second.step()
    noted = store.get(KEY).mod_revision
    store.txn([], [Put("/a", b"2")])
    store.txn([], [Put("/a", b"3")])

    second.step()
    first.step()

    with pytest.raises(Compacted) as caught:
        store.get("/a", revision=old)
    assert caught.value.compact_revision == noted
    first.close()
    second.close()


@pytest.mark.etcd
class TestWithEtcd:
    @pytest.fixture
    def store(self, etcd):
        context = PluginContext(name="etcd", settings={"etcd_servers": [etcd.url], "history_seconds": 0})
        store = Etcd(context).storage_open()
        yield store
        store.close()

    def test_the_plugin_connects(self, store):
        assert store.revision() > 0

    def test_its_size_is_etcds(self, store):
        assert store.size() >= 16 * 1024

    def test_kubernetes_keys_are_what_etcd_sees(self, store, etcd):
        store.txn([], [Put("/registry/pods/d/a", b"{}")])

        other = EtcdStore(Access(["http://127.0.0.1:1", etcd.url]), history_seconds=0)
        assert other.get("/registry/pods/d/a").value == b"{}"
        other.close()

    def test_writes_find_the_member_that_is_there(self, etcd):
        store = EtcdStore(Access(["http://127.0.0.1:1", etcd.url]), history_seconds=0)

        assert store.txn([], [Put("/registry/failover", b"v")]).succeeded
        store.close()

    def test_no_etcd_is_unavailable(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            store = EtcdStore(Access([f"http://127.0.0.1:{taken.getsockname()[1]}"]), history_seconds=0)
            with pytest.raises(StoreUnavailable):
                store.revision()
            store.close()

    def test_etcds_own_progress_reaches_a_quiet_watch(self, etcd):
        store = EtcdStore(Access([etcd.url]), history_seconds=0, trust_progress=True)
        watch = store.watch("/registry/quiet/", "/registry/quiet0", revision=store.revision())
        store.txn([], [Put("/registry/elsewhere", b"v")])
        revision = store.revision()

        watch.request_progress()
        batch = next(batch for batch in watch if batch.revision >= revision)

        assert batch.events == ()
        store.close()

    def test_the_watch_cache_is_consistent_over_it(self, store):
        cache = StoreCache(store, SystemClock())
        cache.start()
        pods = cache.resource("/registry/cached/", read_object())
        for number in range(20):
            value = b'{"metadata":{"name":"a","namespace":"d","labels":{"n":"%d"}}}' % number
            revision = store.txn([], [Put("/registry/cached/d/a", value)]).revision
            assert pods.get("d", "a").revision == revision
        store.txn([], [Put("/outside", b"v")])
        assert pods.get("d", "a").labels == {"n": "19"}
        cache.close()

    @pytest.mark.slow
    def test_a_watch_goes_on_after_etcd_restarted(self, store, etcd):
        start = store.txn([], [Put("/registry/w/a", b"1")]).revision
        watch, events = store.watch("/registry/w/", "/registry/w0", revision=start), []
        enough = threading.Event()

        def follow():
            for batch in watch:
                events.extend(batch.events)
                if len(events) >= 3:
                    enough.set()

        reader = threading.Thread(target=follow)
        reader.start()
        store.txn([], [Put("/registry/w/a", b"2")])
        etcd.stop()
        with pytest.raises(StoreUnavailable):
            store.revision()
        etcd.start()
        store.txn([], [Put("/registry/w/a", b"3")])
        store.txn([], [Put("/registry/w/b", b"4")])

        assert enough.wait(10)
        assert [event.current.value for event in events] == [b"2", b"3", b"4"]
        assert [event.previous and event.previous.value for event in events] == [b"1", b"2", None]
        watch.close()
        reader.join(30)
        assert not reader.is_alive()
