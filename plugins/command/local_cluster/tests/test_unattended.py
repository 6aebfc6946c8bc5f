"""Which kinds nothing acts on."""

import pytest
from hyperkube_command.local_cluster.unattended import ACTED_ON_BY, unattended

from hyperkube.plugin.loader import installed


def test_with_every_controller_nothing_is_left_alone():
    assert unattended(set(ACTED_ON_BY.values())) == []


def test_what_has_no_controller_is_named():
    assert unattended(set(ACTED_ON_BY.values()) - {"statefulset"}) == ["statefulsets.apps"]


@pytest.mark.skipif(not installed("controller"), reason="no controller is installed")
def test_every_controller_named_is_installed():
    assert set(ACTED_ON_BY.values()) <= set(installed("controller"))
