"""What all tests share.

Properties are judged by what they say, not by how long a busy machine takes to draw a case. Hypothesis does the same by
itself where ``CI`` is set, and then draws the same cases each time.
"""

import logging
import os

import pytest

if "CI" not in os.environ:
    from hypothesis import HealthCheck, settings

    settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("busy")


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After each file, undo what a command that was run in this process has set up for its log."""
    if nextitem is None or nextitem.path != item.path:
        root = logging.getLogger("hyperkube")
        root.handlers.clear()
        root.setLevel(logging.NOTSET)
        root.propagate = True
