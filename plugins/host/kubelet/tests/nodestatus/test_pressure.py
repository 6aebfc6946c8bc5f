"""When memory, disk or process ids run out, the node says so, and for a while after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_host.kubelet.flags import FLAGS
from hyperkube_host.kubelet.nodestatus.pressure import TRANSITION_SECONDS, Pressure, Supply, measure
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.thresholds import DISK, MEMORY, PID, read_thresholds

from hyperkube.plugin.flags import FlagValues

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLENTY = {"memory.available": Supply(1 << 30, 8 << 30), "nodefs.available": Supply(50, 100)}


def default_thresholds():
    values = FlagValues.of(FLAGS, {"container-runtime": "hollow"})
    return KubeletOptions.of(values).node.thresholds


@pytest.mark.parametrize(
    ("supplies", "holds"),
    [
        pytest.param(PLENTY, set(), id="plenty"),
        pytest.param({"memory.available": Supply(99 << 20, 8 << 30)}, {MEMORY}, id="memory"),
        pytest.param({"nodefs.available": Supply(9, 100)}, {DISK}, id="disk"),
        pytest.param({"nodefs.inodesFree": Supply(4, 100)}, {DISK}, id="inodes"),
        pytest.param({}, set(), id="unknown"),
    ],
)
def test_a_condition_holds_under_its_threshold(supplies, holds):
    assert Pressure(default_thresholds(), lambda: supplies).holding(NOW) == holds


def test_process_ids_have_a_threshold_where_it_is_given():
    thresholds = read_thresholds({"pid.available<10%": ""})

    assert Pressure(thresholds, lambda: {"pid.available": Supply(99, 1000)}).holding(NOW) == {PID}


def test_it_holds_for_a_while_after_the_last_measurement():
    supplies = {"nodefs.available": Supply(9, 100)}
    pressure = Pressure(default_thresholds(), lambda: supplies)
    pressure.holding(NOW)
    supplies.update(PLENTY)

    soon = pressure.holding(NOW + timedelta(seconds=TRANSITION_SECONDS - 1))
    late = pressure.holding(NOW + timedelta(seconds=TRANSITION_SECONDS))

    assert (soon, late) == ({DISK}, set())


def test_this_machine_is_measured(tmp_path):
    supplies = measure(tmp_path)

    assert {"memory.available", "nodefs.available", "imagefs.available", "pid.available"} <= set(supplies)
    assert all(0 <= supply.available <= supply.capacity for supply in supplies.values())


def test_what_a_machine_does_not_tell_is_left_out(tmp_path):
    assert set(measure(tmp_path, tmp_path)) <= {
        f"{fs}.{what}" for fs in ("nodefs", "imagefs") for what in ("available", "inodesFree")
    }
