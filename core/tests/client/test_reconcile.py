"""The loop around decisions: when it tries again, and what it says."""

import logging

import pytest

from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Conflict, Forbidden, ServiceUnavailable


def run(error, clock=None):
    """Run a loop whose first attempt fails; return how often it tried before and after its back-off."""
    clock = clock or FakeClock()
    tries = []

    def sync(key):
        tries.append(key)
        if len(tries) == 1:
            raise error

    loop = ReconcileLoop("x", sync, clock=clock)
    loop.queue.add("k")
    loop.drain()
    first = len(tries)
    clock.advance(1)
    loop.drain()
    return first, len(tries)


@pytest.mark.parametrize(
    "error", [Conflict("x"), NotYet("x"), ServiceUnavailable("x"), ConnectionError("x"), KeyError("bug")], ids=repr
)
def test_a_failure_is_tried_again_later(error):
    assert run(error) == (1, 2)


def test_a_namespace_that_goes_is_no_reason_to_retry():
    refusal = Forbidden("x", details={"causes": [{"reason": "NamespaceTerminating"}]})

    assert run(refusal) == (1, 1)


def test_a_conflict_is_not_worth_a_warning(caplog):
    caplog.set_level(logging.INFO)

    run(Conflict("x"))

    assert caplog.text == ""


def test_a_key_may_ask_to_be_looked_at_again():
    clock = FakeClock()
    tries = []
    loop = ReconcileLoop("x", lambda key: tries.append(key) or 30.0, clock=clock)
    loop.queue.add("k")
    loop.drain()

    clock.advance(30)
    loop.drain()

    assert tries == ["k", "k"]


def test_a_loop_that_never_rests_is_found_out():
    def restless(key):
        loop.queue.add(key)

    loop = ReconcileLoop("x", restless, clock=FakeClock())
    loop.queue.add("k")

    with pytest.raises(RuntimeError, match="does not come to rest"):
        loop.drain(limit=50)
