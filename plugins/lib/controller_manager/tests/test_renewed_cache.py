"""What is kept of a lease that was renewed: what it shares with its earlier self, and that it is what came."""

import copy

import orjson
import pytest
from hyperkube_lib.controller_manager.renewed_cache import RenewedCache

OWNER = {"apiVersion": "v1", "kind": "Node", "name": "one", "uid": "u1"}
LEASE = {
    "kind": "Lease",
    "metadata": {"resourceVersion": "1", "name": "one", "namespace": "ns", "uid": "u2", "ownerReferences": [OWNER]},
    "spec": {"holderIdentity": "one", "leaseDurationSeconds": 40, "renewTime": "2026-01-02T03:04:05.000006Z"},
}


@pytest.fixture
def cache():
    cache = RenewedCache()
    cache.put(cache.keep(copy.deepcopy(LEASE)))
    return cache


def changed(metadata=None, spec=None):
    lease = copy.deepcopy(LEASE)
    lease["metadata"] |= metadata or {}
    lease["spec"] |= spec or {}
    return lease


def test_a_renewed_lease_shares_all_but_its_time(cache):
    before = cache.get("ns", "one")
    renewal = changed({"resourceVersion": "2"}, {"renewTime": "2026-01-02T03:04:15.000007Z"})
    came = orjson.dumps(renewal)
    kept = cache.keep(renewal)

    assert orjson.dumps(kept) == came
    assert kept["metadata"]["ownerReferences"] is before["metadata"]["ownerReferences"]
    assert kept["spec"]["holderIdentity"] is before["spec"]["holderIdentity"]
    assert before == LEASE


@pytest.mark.parametrize(
    "lease",
    [
        pytest.param(changed({"resourceVersion": "2", "labels": {"a": "b"}}), id="a label"),
        pytest.param(changed(spec={"holderIdentity": "two"}), id="another holder"),
        pytest.param({**LEASE, "spec": {"holderIdentity": "one"}}, id="no time"),
        pytest.param({**LEASE, "spec": {}}, id="empty"),
        pytest.param({"kind": "Lease", "metadata": {"name": "one", "namespace": "ns"}}, id="nothing"),
        pytest.param({**LEASE, "metadata": {"name": "two", "namespace": "ns"}}, id="another one"),
    ],
)
def test_what_else_comes_is_kept_as_it_is(cache, lease):
    came = orjson.dumps(lease)
    kept = cache.keep(copy.deepcopy(lease))

    assert orjson.dumps(kept) == came
