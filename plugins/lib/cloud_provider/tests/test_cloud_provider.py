"""A controller's cloud provider is the installed one of that name, or none."""

from __future__ import annotations

import pytest
from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.plugin import PluginContext
from hyperkube.plugin.loader import PluginNotFound


@pytest.mark.parametrize("name", ["", "external"])
def test_no_cloud_and_the_cloud_of_another_process_are_none(name):
    assert CloudProvider(PluginContext(name="route")).build(name) is None


def test_a_provider_that_is_not_installed_is_named():
    with pytest.raises(PluginNotFound, match="nimbus"):
        CloudProvider(PluginContext(name="route")).build("nimbus")


def test_closing_what_was_never_built_is_nothing():
    provider = CloudProvider(PluginContext(name="route"))

    provider.close()
    provider.close()

    assert provider.build("") is None
