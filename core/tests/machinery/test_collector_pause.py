import gc

import pytest

from hyperkube.machinery.collector_pause import CollectorPause


@pytest.fixture(autouse=True)
def _collector():
    was_on = gc.isenabled()
    gc.enable()
    yield
    if not was_on:
        gc.disable()


def test_it_rests_until_the_last_pause_ends():
    paused = CollectorPause()

    with paused():
        with paused():
            inner = gc.isenabled()
        outer = gc.isenabled()

    assert (inner, outer, gc.isenabled()) == (False, False, True)


def test_an_error_ends_the_pause():
    with pytest.raises(ValueError, match="x"), CollectorPause()():
        raise ValueError("x")

    assert gc.isenabled()


def test_it_stays_off_for_who_switched_it_off():
    gc.disable()

    with CollectorPause()():
        pass

    assert not gc.isenabled()
