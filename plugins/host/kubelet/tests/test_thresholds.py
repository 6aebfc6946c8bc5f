"""The thresholds of a node's pressure: Kubernetes' defaults, and one line for what cannot be read."""

from __future__ import annotations

import pytest
from hyperkube_host.kubelet.flags import FLAGS
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.thresholds import Threshold, read_thresholds

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues


def default_thresholds():
    values = FlagValues.of(FLAGS, {"container-runtime": "hollow"})
    return KubeletOptions.of(values).node.thresholds


def test_the_defaults_are_those_of_kubernetes():
    assert default_thresholds() == (
        Threshold("memory.available", 100 << 20, 0.0),
        Threshold("nodefs.available", 0, 0.1),
        Threshold("nodefs.inodesFree", 0, 0.05),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("memory.available", "is not SIGNAL<AMOUNT or SIGNAL<SHARE%"),
        ("cpu.available<1", r"signals: memory.available"),
        ("memory.available<much", "'memory.available<much'"),
    ],
)
def test_a_threshold_that_cannot_be_is_one_line(text, says):
    with pytest.raises(UsageError, match=says):
        read_thresholds({text: ""})
