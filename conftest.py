"""What all tests share.

Properties are judged by what they say, not by how long a busy machine takes to draw a case. Hypothesis does the same by
itself where ``CI`` is set, and then draws the same cases each time: the first of them will do.
"""

import gc
import logging
import os

import pytest
from hypothesis import HealthCheck, settings

if "CI" in os.environ:
    settings.register_profile("busy", settings.get_profile("ci"), max_examples=40)
else:
    settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


YOUNG = 10_000
"""How many new objects the collector looks through at a time, instead of 700: a ninth of the tests' time went there."""


def pytest_collection() -> None:
    """Leave the garbage collector out of the collection of tests: next to nothing of what that makes is garbage."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Take all modules and tests out of the collector's sight: they stay to the end, and are millions of objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Look for garbage once more, then no more: pytest itself does it five times, and Python as it ends."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After each file, undo what a command that was run in this process has set up for its log."""
    if nextitem is None or nextitem.path != item.path:
        root = logging.getLogger("hyperkube")
        root.handlers.clear()
        root.setLevel(logging.NOTSET)
        root.propagate = True
