"""Node ports among several API servers on one store."""

import importlib.util
from pathlib import Path

import pytest
from hyperkube_api.core.services import node_port_record
from hyperkube_api.core.services.allocator import NotAllocated, ServiceAllocator

from hyperkube.hookspecs.api_services import ApiServices
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.clock import FakeClock

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).parents[1] / "calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)

LOW, HIGH = 30000, 32767


def service(name, port):
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": {"ports": [{"port": 80, "nodePort": port}]}}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def call(clock):
    return calls.a_call(calls.Stored(), clock=clock)


def test_the_record_is_what_kubernetes_writes():
    record = node_port_record.write_ports({30080}, LOW, HIGH)

    assert record == {
        "kind": "RangeAllocation",
        "apiVersion": "v1",
        "metadata": {},
        "range": "30000-32767",
        "data": "AQAAAAAAAAAAAAA=",
    }
    assert node_port_record.read_ports(record, LOW, HIGH) == {30080}
    assert node_port_record.read_ports({**record, "data": ""}, LOW, HIGH) == set()
    assert node_port_record.read_ports(record, 30000, 30100) is None


def test_two_servers_never_hand_out_one_port(call):
    one, two = ServiceAllocator(), ServiceAllocator()

    one.claim_port(call, 30080)

    with pytest.raises(NotAllocated, match="provided port is already allocated"):
        two.claim_port(call, 30080)
    one.settle_port(call, 30080, stored=False)
    two.claim_port(call, 30080)


def test_a_port_is_free_for_all_once_its_service_is_gone(call):
    one, two = ServiceAllocator(), ServiceAllocator()
    one.claim_port(call, 30080)
    one.settle_port(call, 30080, stored=True)
    call.objects.put(SERVICES, service("web", 30080))

    with pytest.raises(NotAllocated):
        two.claim_port(call, 30080)
    call.objects.delete(SERVICES, "web", "ns", options={})
    one.release_port(call, 30080)

    ServiceAllocator().claim_port(call, 30080)


def test_what_another_server_gave_back_can_be_had_at_once(call):
    call.services = ApiServices(node_ports=(30080, 30080))
    call.objects.put(SERVICES, service("web", 30080))
    one, two = ServiceAllocator(), ServiceAllocator()
    with pytest.raises(NotAllocated, match="range is full"):
        two.choose_port(call)
    with pytest.raises(NotAllocated, match="already allocated"):
        two.check_port(call, 30080)
    with pytest.raises(NotAllocated, match="range is full"):
        two.claim_any_port(call)

    call.objects.delete(SERVICES, "web", "ns", options={})
    one.release_port(call, 30080)

    assert two.choose_port(call) == 30080
    two.check_port(call, 30080)
    assert two.claim_any_port(call) == 30080


def test_without_a_record_the_services_say_what_is_taken(call):
    call.objects.put(SERVICES, service("old", 30001))

    ServiceAllocator().claim_port(call, 30002)

    assert node_port_record.read_ports(call.objects.records[node_port_record.KEY], LOW, HIGH) == {30001, 30002}


def test_a_port_that_a_dead_server_took_is_free_after_a_while(call, clock):
    ServiceAllocator().claim_port(call, 30080)  # and dies before it stores the service
    survivor = ServiceAllocator()

    for _ in range(2):
        with pytest.raises(NotAllocated):
            survivor.claim_port(call, 30080)
        clock.advance(40)

    survivor.claim_port(call, 30080)


def test_what_is_taken_elsewhere_is_passed_over(clock):
    call = calls.a_call(calls.Stored(), clock=clock, services=ApiServices(node_ports=(30000, 30002)))
    one, two = ServiceAllocator(), ServiceAllocator()
    one.claim_port(call, 30000)

    assert {two.claim_any_port(call), two.claim_any_port(call)} == {30001, 30002}
    with pytest.raises(NotAllocated, match="range is full"):
        one.claim_any_port(call)
