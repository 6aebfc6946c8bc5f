"""The fixtures that tests of a provider with a double share, as `CloudContract` and `FaultContract` ask for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hyperkube.hookspecs.base import Plugin
from hyperkube.hookspecs.cloud import Cloud


def provider_fixtures(module: ModuleType, make: Callable[[], Any]) -> tuple[Any, Any, Any]:
    """Return the fixtures ``double``, ``built`` and ``cloud``, which a ``conftest.py`` gives these names.

    Args:
        module: of the double; ``built(double, folder)`` returns the plugin, ``provider(plugin)`` what that offers.
        make: returns a double.
    """

    @pytest.fixture
    def double() -> Any:
        """Return the cloud as its double plays it."""
        return make()

    @pytest.fixture
    def built(double: Any, tmp_path: Path) -> Plugin:
        """Return the plugin, which talks to the double."""
        plugin: Plugin = module.built(double, tmp_path)
        return plugin

    @pytest.fixture
    def cloud(built: Plugin) -> Cloud:
        """Return what the plugin offers."""
        offered: Cloud = module.provider(built)
        return offered

    return double, built, cloud
