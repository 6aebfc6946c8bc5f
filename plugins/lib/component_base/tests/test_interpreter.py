import sys

import pytest
from hyperkube_lib.component_base.interpreter import SWITCH_SECONDS, share_interpreter


@pytest.fixture(autouse=True)
def interval():
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def test_threads_take_turns_often():
    sys.setswitchinterval(0.005)

    share_interpreter()

    assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS, abs=2e-6)


def test_a_shorter_interval_stays():
    sys.setswitchinterval(0.0001)

    share_interpreter()

    assert sys.getswitchinterval() == pytest.approx(0.0001, abs=2e-6)
