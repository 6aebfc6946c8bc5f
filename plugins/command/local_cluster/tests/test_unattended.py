"""Which kinds nothing acts on."""

import pytest
from hyperkube_command.local_cluster.unattended import ACTED_ON_BY, unattended

from hyperkube.machinery.errors import UsageError


def test_with_every_controller_nothing_is_left_alone():
    assert unattended(ACTED_ON_BY.values()) == []


def test_what_has_no_controller_is_named():
    assert unattended(set(ACTED_ON_BY.values()) - {"statefulset"}) == ["statefulsets.apps"]


def test_a_controller_that_is_switched_off_does_not_count():
    assert unattended(ACTED_ON_BY.values(), ["*", "-job"]) == ["jobs.batch"]


def test_an_unknown_controller_is_refused():
    with pytest.raises(UsageError, match="'nosuch' is not an installed controller"):
        unattended(["job"], ["nosuch"])
