"""The Lease by which API servers know of each other."""

from datetime import UTC, datetime

import pytest
from hyperkube_host.apiserver.controlplane.identity_lease import DURATION_SECONDS, LABEL, IdentityLease, server_id
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import LEASES
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.coordination", reason="needs the API group of leases")

NAMESPACE = "kube-system"


@pytest.fixture
def clock():
    return FakeClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def client(clock):
    server = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]},
        store=MemoryStore(),
        clock=clock,
    )
    server.start()
    yield server.client(LOOPBACK)
    server.close()


def lease_of(client, clock, host):
    return IdentityLease(client, clock, host)


def test_a_server_is_named_after_its_host():
    assert server_id("a") == server_id("a") != server_id("b")
    assert server_id("a").startswith("apiserver-")
    assert len(server_id("a")) == len("apiserver-") + 26


def test_it_is_made_once_and_then_renewed(client, clock):
    mine = lease_of(client, clock, "one")

    mine.renew()
    first = client.get(LEASES, mine.name, NAMESPACE)
    clock.advance(10)
    mine.renew()
    second = client.get(LEASES, mine.name, NAMESPACE)

    assert first["metadata"]["labels"] == {LABEL: "kube-apiserver", "kubernetes.io/hostname": "one"}
    assert first["spec"]["leaseDurationSeconds"] == DURATION_SECONDS
    assert first["spec"]["holderIdentity"] == second["spec"]["holderIdentity"]
    assert first["spec"]["renewTime"] < second["spec"]["renewTime"]


def test_it_is_not_read_before_it_is_renewed_but_after_another_client_has_written_it(client, clock, monkeypatch):
    mine, read, get = lease_of(client, clock, "one"), [], client.get
    mine.renew()
    monkeypatch.setattr(client, "get", lambda *words: (read.append(words[1]), get(*words))[1])

    mine.renew()
    at_first = list(read)
    client.patch(LEASES, mine.name, {"metadata": {"annotations": {"by": "another"}}}, NAMESPACE)
    mine.renew()
    mine.renew()

    assert (at_first, read) == ([], [mine.name])
    assert get(LEASES, mine.name, NAMESPACE)["metadata"]["annotations"] == {"by": "another"}


def test_it_is_made_anew_when_it_was_deleted(client, clock):
    mine = lease_of(client, clock, "one")
    mine.renew()
    mine.renew()

    client.delete(LEASES, mine.name, NAMESPACE)
    mine.renew()

    assert client.get(LEASES, mine.name, NAMESPACE)["spec"]["renewTime"]


def test_that_of_a_server_that_is_gone_is_deleted(client, clock):
    gone, mine = lease_of(client, clock, "gone"), lease_of(client, clock, "one")
    gone.renew()
    clock.advance(DURATION_SECONDS + 1)

    mine.renew()
    mine.collect()

    assert [lease["metadata"]["name"] for lease in client.list(LEASES, NAMESPACE).items] == [mine.name]
