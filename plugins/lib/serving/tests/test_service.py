"""Which connections the service looks at, and how often."""

import logging
from types import SimpleNamespace

import pytest
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.service import SWEEP_SECONDS, Service

MANY = 1000


class Client:
    """A connection that counts how often it is looked at."""

    def __init__(self, *, matters=False):
        self.looks = 0
        self.matters = matters

    def tick(self, _now):
        self.looks += 1
        return self.matters


@pytest.fixture
def service():
    loop = SimpleNamespace(asyncio=SimpleNamespace(time=lambda: 1.0))
    made = Service(object(), loop=loop, limits=EdgeLimits(), logger=logging.getLogger("test"), name="test")
    yield made
    made.workers.close()


def joined(service, count, **how):
    clients = [Client(**how) for _ in range(count)]
    for client in clients:
        service.join(client)
    return clients


def test_connections_at_rest_take_turns_to_be_looked_at(service):
    clients = joined(service, MANY)
    service.tick()
    for client in clients:
        client.looks = 0

    looks = []
    for _ in range(2 * SWEEP_SECONDS):
        before = sum(client.looks for client in clients)
        service.tick()
        looks.append(sum(client.looks for client in clients) - before)

    assert max(looks) <= MANY // SWEEP_SECONDS + 1
    assert min(client.looks for client in clients) >= 1


def test_few_connections_are_all_looked_at_every_second(service):
    clients = joined(service, 10)

    for _ in range(5):
        service.tick()

    assert min(client.looks for client in clients) >= 5


def test_a_connection_whose_next_second_matters_is_looked_at_every_second(service):
    joined(service, MANY)
    (busy,) = joined(service, 1, matters=True)

    for _ in range(5):
        service.tick()
    busy.matters = False
    service.tick()
    looks = busy.looks
    service.tick()

    assert looks >= 6
    assert busy.looks <= looks + 1
    assert busy not in service.watched


def test_a_connection_that_has_left_is_looked_at_no_more(service):
    clients = joined(service, MANY, matters=True)
    service.tick()

    for client in clients:
        service.leave(client)
        client.looks = 0
    for _ in range(2 * SWEEP_SECONDS):
        service.tick()

    assert not any(client.looks for client in clients)
    assert not service.watched


def test_turns_are_looked_after_also_when_no_connection_is_left():
    looks = []
    turns = SimpleNamespace(join=lambda _loop: None, relieve=lambda _take: looks.append("look"))
    handler = SimpleNamespace(turns=turns, takes_turns=lambda _request: True, priority=lambda _request: None)
    loop = SimpleNamespace(asyncio=SimpleNamespace(time=lambda: 1.0))
    service = Service(handler, loop=loop, limits=EdgeLimits(), logger=logging.getLogger("test"), name="test")

    service.tick()

    assert looks == ["look"]
    service.workers.close()


def test_a_connection_that_is_lost_while_the_server_closes_is_cut_off_without_its_socket():
    later, cut = [], []
    asyncio = SimpleNamespace(time=lambda: 1.0, call_later=lambda _seconds, call, *args: later.append((call, args)))
    loop = SimpleNamespace(asyncio=asyncio)
    service = Service(object(), loop=loop, limits=EdgeLimits(), logger=logging.getLogger("test"), name="test")
    (client,) = joined(service, 1)
    transport = SimpleNamespace(
        close=lambda: None,
        abort=lambda: cut.append(client),
        get_write_buffer_size=lambda: 0,
        get_extra_info=lambda _name: None,
    )
    service.draining = True

    service.hang_up(client, transport)
    ((call, args),) = later
    call(*args)

    assert cut == [client]
    service.workers.close()
