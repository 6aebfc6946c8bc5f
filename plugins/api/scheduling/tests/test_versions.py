"""The versions of the group that are served."""

import pytest
from hyperkube_api.scheduling.resources import SchedulingApi

from hyperkube.plugin import PluginContext


@pytest.mark.parametrize(("gates", "versions"), [({}, ["v1"]), ({"GenericWorkload": True}, ["v1", "v1alpha2"])])
def test_groups_are_served_with_their_gate_only(gates, versions):
    offered = SchedulingApi(PluginContext(name="scheduling", gates=gates)).api_group_versions()

    assert [each.version for each in offered] == versions
