"""Being found: the endpoints of the Service kubernetes, and the thread that keeps a server known."""

from datetime import UTC, datetime

import pytest
from hyperkube_host.apiserver.controlplane.api_server_identity import identity_of
from hyperkube_host.apiserver.controlplane.endpoint_reconciler import LEASE_SECONDS, KubernetesEndpoints
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import ENDPOINT_SLICES, ENDPOINTS, LEASES
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.discovery", reason="needs the API group of endpoint slices")

OPTIONS = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"], "advertise-address": "10.0.0.1"}


def announced(**values):
    return Options.of(values, is_announced=True)


ROOT = "/registry/"


@pytest.fixture
def clock():
    return FakeClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def store(clock):
    return MemoryStore(clock)


@pytest.fixture
def client(store, clock):
    server = ApiServer(options=OPTIONS, store=store, clock=clock)
    server.start()
    yield server.client(LOOPBACK)
    server.close()


class Refusing:
    """The API to whom a webhook that is down lets nobody write."""

    def __init__(self, client):
        self.get, self.list, self.update = client.get, client.list, client.update

    def create(self, *args, **more):
        raise Forbidden("no")


def of(store, client, address, *, count=0, port=6443):
    return KubernetesEndpoints(store, ROOT, client, address=address, port=port, count=count)


def addresses(client):
    (subset,) = client.get(ENDPOINTS, "kubernetes", "default")["subsets"]
    in_slice = client.get(ENDPOINT_SLICES, "kubernetes", "default")["endpoints"]
    found = [each["ip"] for each in subset["addresses"]]
    assert [each["addresses"][0] for each in in_slice] == found
    return found


def ports(client):
    return [port["port"] for port in client.get(ENDPOINTS, "kubernetes", "default")["subsets"][0]["ports"]]


def test_all_servers_that_live_are_behind_the_service(store, client):
    for address in ("10.0.0.2", "10.0.0.1"):
        of(store, client, address).reconcile()

    assert addresses(client) == ["10.0.0.1", "10.0.0.2"]


def test_one_that_renews_no_more_is_gone_after_a_while(store, client, clock):
    first, second = of(store, client, "10.0.0.1"), of(store, client, "10.0.0.2")
    first.reconcile()
    second.reconcile()

    clock.advance(LEASE_SECONDS - 5)
    second.reconcile()
    before = addresses(client)
    clock.advance(10)
    eventually(lambda: store.get(f"{ROOT}masterleases/10.0.0.1") is None)
    second.reconcile()

    assert before == ["10.0.0.1", "10.0.0.2"]
    assert addresses(client) == ["10.0.0.2"]


def test_one_that_leaves_is_gone_at_once(store, client):
    first, second = of(store, client, "10.0.0.1"), of(store, client, "10.0.0.2")
    first.reconcile()
    second.reconcile()

    first.leave()

    assert addresses(client) == ["10.0.0.2"]


def test_the_last_one_stays_behind_the_service(store, client):
    alone = of(store, client, "10.0.0.1")
    alone.reconcile()

    alone.leave()

    assert addresses(client) == ["10.0.0.1"]


def test_a_new_address_takes_the_place_of_the_old_one(store, client):
    of(store, client, "10.0.0.9").reconcile()

    assert addresses(client) == ["10.0.0.9"]


def test_nothing_is_written_when_all_is_as_it_should_be(store, client):
    mine = of(store, client, "10.0.0.1")
    mine.reconcile(ports=True)
    before = client.get(ENDPOINTS, "kubernetes", "default"), client.get(ENDPOINT_SLICES, "kubernetes", "default")

    mine.reconcile()

    after = client.get(ENDPOINTS, "kubernetes", "default"), client.get(ENDPOINT_SLICES, "kubernetes", "default")
    assert after == before


def test_the_port_is_put_right_once_and_then_left_to_the_others(store, client):
    mine = of(store, client, "10.0.0.1", port=7443)

    mine.reconcile()
    before = ports(client)
    mine.reconcile(ports=True)

    assert (before, ports(client)) == ([6443], [7443])


def test_a_deleted_slice_is_made_again_and_one_of_another_family_replaced(store, client):
    mine = of(store, client, "10.0.0.1")
    mine.reconcile()
    client.delete(ENDPOINT_SLICES, "kubernetes", "default")

    mine.reconcile()
    again = addresses(client)
    store.txn([], [])
    of(store, client, "fd00::1", count=1).reconcile()

    assert again == ["10.0.0.1"]
    assert client.get(ENDPOINT_SLICES, "kubernetes", "default")["addressType"] == "IPv6"


def test_as_many_as_were_announced_are_kept(store, client):
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        of(store, client, address, count=2).reconcile()

    assert addresses(client) == ["10.0.0.2", "10.0.0.3"]


@pytest.mark.parametrize(("kind", "there"), [("lease", True), ("master-count", False), ("none", False)])
def test_the_flag_chooses_the_reconciler(store, client, clock, kind, there):
    options = announced(**{"endpoint-reconciler-type": kind, "advertise-address": "10.0.0.1"})
    identity = identity_of(options, store, ROOT, client, clock)

    identity.renew(first=True)

    assert identity.begun()
    assert (store.get(f"{ROOT}masterleases/10.0.0.1") is not None) is there


def test_a_server_on_loopback_is_behind_no_service(store, client, clock):
    identity = identity_of(announced(**{"advertise-address": "127.0.0.1"}), store, ROOT, client, clock)

    identity.renew()

    assert store.get(f"{ROOT}masterleases/127.0.0.1") is None
    assert len(client.list(LEASES, "kube-system").items) == 1


def test_a_lease_that_is_refused_is_tried_again_and_keeps_nobody_out(store, client, clock, caplog):
    identity = identity_of(announced(**OPTIONS), store, ROOT, Refusing(client), clock)
    before = identity.begun()

    identity.renew()

    assert (before, identity.begun()) == (False, True)
    assert "the server could not make known whether it is there: no" in caplog.text
    assert store.get(f"{ROOT}masterleases/10.0.0.1") is not None


def test_the_gate_takes_the_lease_away(store, client, clock):
    options = announced(**OPTIONS, **{"feature-gates": {"APIServerIdentity": False}})
    identity = identity_of(options, store, ROOT, client, clock)

    identity.renew()

    assert client.list(LEASES, "kube-system").items == []


def test_a_server_makes_itself_known_and_is_ready_then():
    server = ApiServer(options=announced(**OPTIONS), store=MemoryStore(), clock=SystemClock())
    server.start()

    eventually(server.ready)
    leases = server.client(LOOPBACK).list(LEASES, "kube-system").items
    server.close()

    assert [lease["metadata"]["labels"]["apiserver.kubernetes.io/identity"] for lease in leases] == ["kube-apiserver"]
