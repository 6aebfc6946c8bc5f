"""What the contracts use of a test runner, so that they can be imported where pytest is not installed.

The contracts are run by pytest; core itself does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from unittest import SkipTest, TestCase

Function = TypeVar("Function", bound=Callable[..., Any])

if TYPE_CHECKING:
    from pytest import fixture
else:
    try:
        from pytest import fixture
    except ImportError:

        def fixture(function: Function) -> Function:
            """Leave the function as it is: without pytest there is nothing to give it to."""
            return function


raises = TestCase().assertRaises
"""The context in which an exception must be raised; afterwards it is its `exception`."""

__all__ = ["SkipTest", "fixture", "raises"]
