from typing import ClassVar

import pytest
from hyperkube_admission.event_rate_limit import EventRateLimit

from hyperkube.kinds.resources import EVENTS
from hyperkube.machinery.errors import TooManyRequests, UsageError
from hyperkube.machinery.users import UserInfo
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def event(namespace="ns", uid="1"):
    return {
        "metadata": {"name": "e", "namespace": namespace},
        "source": {"component": "kubelet", "host": "n"},
        "involvedObject": {"kind": "Pod", "namespace": namespace, "name": "p", "uid": uid},
    }


def limit(kind, qps=1, burst=2, **more):
    return {"type": kind, "qps": qps, "burst": burst, **more}


def rig_with(*limits):
    return AdmissionRig(EventRateLimit, settings={"limits": list(limits)})


class TestPromises(AdmissionContract):
    plugin = EventRateLimit
    settings: ClassVar = {"limits": [limit("Server", burst=1)]}

    def concerned(self, rig):
        return [rig.request("CREATE", EVENTS, event()), rig.request("CREATE", EVENTS, event())]


def test_a_burst_passes_then_so_many_a_second():
    rig = rig_with(limit("Server", qps=2, burst=3))

    for _ in range(3):
        rig.create(EVENTS, event())
    with pytest.raises(TooManyRequests, match="limit reached on type Server for key"):
        rig.create(EVENTS, event())
    rig.clock.advance(1)

    for _ in range(2):
        rig.create(EVENTS, event())
    with pytest.raises(TooManyRequests):
        rig.create(EVENTS, event())


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("Namespace", {"obj": event("other")}),
        ("User", {"user": UserInfo("bob")}),
        ("SourceAndObject", {"obj": event(uid="2")}),
    ],
)
def test_each_key_has_its_own_bucket(kind, other):
    rig = rig_with(limit(kind, burst=1))

    rig.create(EVENTS, event())
    with pytest.raises(TooManyRequests, match=f"type {kind}"):
        rig.create(EVENTS, event())

    assert rig.create(EVENTS, other.pop("obj", event()), **other)


def test_rarely_used_keys_are_forgotten():
    rig = rig_with(limit("Namespace", burst=1, cacheSize=1))

    rig.create(EVENTS, event("a"))
    rig.create(EVENTS, event("b"))

    assert rig.create(EVENTS, event("a"))


def test_a_dry_run_takes_nothing():
    rig = rig_with(limit("Server", burst=1))

    rig.create(EVENTS, event(), dry_run=True)

    assert rig.create(EVENTS, event())


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ([], "must not be empty"),
        ([limit("Planet")], "'Planet' is unknown"),
        ([limit("Server", qps=0)], "qps must be positive"),
        ([limit("Server", bursts=1)], "unknown field 'bursts'"),
    ],
    ids=repr,
)
def test_wrong_settings_are_refused_at_start(limits, message):
    with pytest.raises(UsageError, match=message):
        rig_with(*limits)
