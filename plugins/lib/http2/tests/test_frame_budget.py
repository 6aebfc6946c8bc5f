"""Frames that carry nothing have a price."""

from __future__ import annotations

import pytest
from h2.exceptions import DenialOfServiceError
from hyperkube_lib.http2.frame_budget import MOST, PER_SECOND, USE, FrameBudget


class Time:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_budget_is_bounded() -> None:
    budget = FrameBudget(Time())
    for _ in range(100):
        budget.earn()

    budget.spend(MOST)

    with pytest.raises(DenialOfServiceError):
        budget.spend(1.0)


def test_time_gives_it_back() -> None:
    time = Time()
    budget = FrameBudget(time)
    budget.spend(MOST)
    time.now += 1.0

    budget.spend(PER_SECOND)

    with pytest.raises(DenialOfServiceError):
        budget.spend(1.0)


def test_time_is_given_once() -> None:
    time = Time()
    time.now += 1000.0
    budget = FrameBudget(time)
    budget.spend(MOST)
    time.now += 0.5

    budget.spend(PER_SECOND / 2)

    with pytest.raises(DenialOfServiceError):
        budget.spend(PER_SECOND / 2)


def test_frames_of_use_add_to_it() -> None:
    budget = FrameBudget(Time())
    budget.spend(MOST)
    budget.earn()

    budget.spend(USE)

    with pytest.raises(DenialOfServiceError):
        budget.spend(1.0)
