"""A controller's cloud provider is the installed one of that name, or none."""

from __future__ import annotations

import pytest
from hyperkube_lib.cloud_provider import CloudProvider
from hyperkube_lib.cloud_provider.elsewhere import INSTEAD, NoProvider

from hyperkube.plugin import PluginContext
from hyperkube.plugin.loader import PluginNotFound


@pytest.mark.parametrize("name", ["", "external"])
def test_no_cloud_and_the_cloud_of_another_process_are_none(name):
    assert CloudProvider(PluginContext(name="route")).build(name) is None


def test_a_provider_that_is_not_installed_is_named():
    with pytest.raises(PluginNotFound, match="nimbus"):
        CloudProvider(PluginContext(name="route")).build("nimbus")


@pytest.mark.parametrize("name", INSTEAD)
def test_a_cloud_without_a_provider_is_told_in_one_line_with_what_to_use_instead(name):
    with pytest.raises(NoProvider, match=f"^cloud '{name}' (has no|is no more)") as raised:
        CloudProvider(PluginContext(name="route")).build(name)

    assert "\n" not in str(raised.value)


def test_a_third_partys_provider_of_such_a_name_is_used(monkeypatch):
    monkeypatch.setattr("hyperkube_lib.cloud_provider.provider.installed", lambda _family: {"photon": object()})

    with pytest.raises(PluginNotFound, match="photon"):  # the loader is asked, which has it not
        CloudProvider(PluginContext(name="route")).build("photon")


def test_closing_what_was_never_built_is_nothing():
    provider = CloudProvider(PluginContext(name="route"))

    provider.close()
    provider.close()

    assert provider.build("") is None
