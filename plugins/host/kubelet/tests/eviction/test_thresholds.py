"""The thresholds of a node's pressure: Kubernetes' defaults, and one line for what cannot be read."""

from __future__ import annotations

import pytest
from hyperkube_host.kubelet.flags import FLAGS
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.thresholds import Amount, Threshold, read_thresholds, with_container_fs

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues


def default_thresholds():
    values = FlagValues.of(FLAGS, {"container-runtime": "hollow"})
    return KubeletOptions.of(values).node.thresholds


def test_the_defaults_are_those_of_kubernetes():
    assert default_thresholds() == (
        Threshold("memory.available", Amount(100 << 20)),
        Threshold("nodefs.available", Amount(share=0.1)),
        Threshold("nodefs.inodesFree", Amount(share=0.05)),
        Threshold("imagefs.available", Amount(share=0.15)),
        Threshold("imagefs.inodesFree", Amount(share=0.05)),
        Threshold("allocatableMemory.available", Amount(100 << 20)),
    )


def test_soft_thresholds_have_grace_and_all_have_their_minimum_reclaim():
    found = read_thresholds(
        {"memory.available<150Mi": ""},
        {"memory.available<300Mi": ""},
        {"memory.available": "30s"},
        {"memory.available": "10%", "nodefs.available": "1Gi"},
    )

    assert found == (
        Threshold("memory.available", Amount(150 << 20), 0.0, Amount(share=0.1)),
        Threshold("memory.available", Amount(300 << 20), 30.0, Amount(share=0.1)),
    )


def test_all_pods_together_have_the_hard_threshold_of_memory():
    found = read_thresholds({"memory.available<1Gi": "", "pid.available<5%": ""}, enforces_pods=True)

    assert [one.signal for one in found] == ["memory.available", "pid.available", "allocatableMemory.available"]


@pytest.mark.parametrize("text", ["memory.available<0%", "memory.available<100%"])
def test_a_threshold_may_be_switched_off(text):
    assert read_thresholds({text: ""}) == ()


@pytest.mark.parametrize(
    ("has_image_fs", "is_split", "follows"),
    [(False, False, 0.1), (True, False, 0.15), (True, True, 0.1)],
)
def test_the_containers_file_system_follows_that_which_it_is_on(has_image_fs, is_split, follows):
    found = with_container_fs(
        (*default_thresholds(), Threshold("containerfs.available", Amount(5))),
        has_image_fs=has_image_fs,
        is_split=is_split,
    )

    assert [one.value.share for one in found if one.signal == "containerfs.available"] == [follows]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("memory.available", "is not SIGNAL<AMOUNT or SIGNAL<SHARE%"),
        ("cpu.available<1", r"signals: memory.available"),
        ("memory.available<much", "'memory.available<much'"),
        ("memory.available<-1Mi", "must be positive"),
        ("memory.available<0", "must be positive"),
        ("memory.available<101%", "at most 100%"),
        ("memory.available<-3%", "must be positive"),
    ],
)
def test_a_threshold_that_cannot_be_is_one_line(text, says):
    with pytest.raises(UsageError, match=says):
        read_thresholds({text: ""})


@pytest.mark.parametrize(
    ("soft", "grace", "reclaim", "says"),
    [
        ({"memory.available<1Mi": ""}, {}, {}, "grace period must be specified"),
        ({}, {"memory.available": "-3s"}, {}, "must be a positive value"),
        ({}, {"memory.available": "soon"}, {}, "soon"),
        ({}, {"cpu": "3s"}, {}, "unsupported eviction signal cpu"),
        ({}, {}, {"cpu": "3"}, "unsupported eviction signal cpu"),
        ({}, {}, {"memory.available": "-1Mi"}, "minimum reclaim must be positive"),
        ({}, {}, {"memory.available": "0%"}, "minimum reclaim must be positive"),
    ],
)
def test_grace_and_reclaim_that_cannot_be_are_one_line(soft, grace, reclaim, says):
    with pytest.raises(UsageError, match=says):
        read_thresholds({}, soft, grace, reclaim)
