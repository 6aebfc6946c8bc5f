"""How many connections are kept between requests, and at rest."""

import socket

import pytest

from hyperkube.client.connection_pool import MAX_IDLE, MAX_RESTING, ConnectionPool, TlsOptions
from hyperkube.machinery.recent import forget_all


@pytest.fixture
def pool():
    """Yield a pool whose connections all lead to a listener that says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=2 * MAX_IDLE) as listener:
        pool = ConnectionPool(f"http://127.0.0.1:{listener.getsockname()[1]}", TlsOptions(), timeout=10)
        yield pool
        pool.close()


def used(pool, count):
    """Use so many connections at once, and give them back; return them."""
    taken = [pool.take() for _ in range(count)]
    for connection in taken:
        connection.connect()
        pool.give_back(connection)
    return taken


def opened(connections):
    return sum(connection.sock is not None for connection in connections)


def test_as_many_as_a_busy_server_has_under_way_are_kept(pool):
    assert opened(used(pool, MAX_IDLE + 3)) == MAX_IDLE


def test_at_rest_a_few_are_left_and_these_are_used_again(pool):
    connections = used(pool, 20)

    forget_all()

    assert opened(connections) == MAX_RESTING
    again = pool.take()
    assert again in connections
    again.close()


def test_a_pool_that_is_closed_keeps_none(pool):
    connections = used(pool, 3)
    taken = pool.take()

    pool.close()
    pool.give_back(taken)

    assert opened(connections) == 0
