"""A provider is built when it is asked for, and once."""

from __future__ import annotations

import pytest
from hyperkube_lib.cloud_provider.late import LateCloud
from hyperkube_lib.cloud_provider.provider import CloudProvider

from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.plugin.loader import PluginNotFound


def late(name):
    return LateCloud(PluginContext(name="driver"), name, "--cloud-provider")


def test_it_is_built_when_it_is_asked_for_and_once(monkeypatch):
    built = []
    monkeypatch.setattr(CloudProvider, "build", lambda self, name: built.append(name) or Cloud(name=name))
    cloud = late("nimbus")
    assert built == []

    assert cloud.built() is cloud.built()
    assert built == ["nimbus"]


def test_the_flag_that_names_no_provider_is_told():
    with pytest.raises(UsageError, match=r"^--cloud-provider: 'external' is no cloud provider$"):
        late("external").built()


def test_one_that_is_not_installed_is_named_and_may_be_closed():
    cloud = late("nimbus")

    with pytest.raises(PluginNotFound, match="nimbus"):
        cloud.built()
    cloud.close()
