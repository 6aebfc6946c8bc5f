"""The selinux-warning controller: which pods conflict over a volume, and what they are told."""

import pytest
from hyperkube_controller.selinux_warning import SelinuxWarning, Use, VolumeCache, file_label, labels_conflict
from prometheus_client import CollectorRegistry

from hyperkube.kinds.resources import CSI_DRIVERS, EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.testing.controller_rig import ControllerRig

TAIL = "If both pods land on the same node, only one of them may access the volume."


def volume(**source):
    return {
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {
            "claimRef": {"namespace": "d", "name": "c"},
            **(source or {"csi": {"driver": "ebs", "volumeHandle": "v1"}}),
        },
    }


CLAIM = {"kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "d"}, "spec": {"volumeName": "pv"}}


def driver(*, mounts=True):
    return {"kind": "CSIDriver", "metadata": {"name": "ebs"}, "spec": {"seLinuxMount": mounts}}


def pod(name, level="", policy=None, *, containers=None, phase="Running"):
    context = {"seLinuxOptions": {"level": level}} if level else {}
    if policy:
        context["seLinuxChangePolicy"] = policy
    mount = [{"name": "data", "mountPath": "/data"}]
    spec = {
        "securityContext": context,
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}],
        "containers": containers or [{"name": "c", "volumeMounts": mount}],
    }
    meta = {"name": name, "namespace": "d"}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": {"phase": phase}}


def run(*pods, of=None, by=None):
    rig = ControllerRig(SelinuxWarning)
    rig.client.seed(CSI_DRIVERS, by or driver())
    rig.client.seed(PERSISTENT_VOLUMES, of or volume())
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, CLAIM)
    rig.client.seed(PODS, *pods)
    rig.settle()
    return rig


def told(rig):
    rig.plugins[0]._recorder.flush()
    events = rig.client.objects(EVENTS)
    return sorted((each["involvedObject"]["name"], each["reason"], each["message"]) for each in events)


def label_conflict(other, value, other_value):
    who = f"pod {other} that uses the same volume as this pod with"
    return f'SELinuxLabel "{value}" conflicts with {who} SELinuxLabel "{other_value}". {TAIL}'


def test_pods_with_other_labels_are_both_told():
    rig = run(pod("a", "s0:c1"), pod("b", "s0:c2"))

    assert told(rig) == [
        ("a", "SELinuxLabelConflict", label_conflict("b", ":::s0:c1", ":::s0:c2")),
        ("b", "SELinuxLabelConflict", label_conflict("a", ":::s0:c2", ":::s0:c1")),
    ]


def test_pods_with_other_policies_are_both_told():
    rig = run(pod("a", "s0:c1"), pod("b", "s0:c1", "Recursive"))

    who = "pod b that uses the same volume as this pod with"
    text = f'SELinuxChangePolicy "MountOption" conflicts with {who} SELinuxChangePolicy "Recursive". {TAIL}'
    assert told(rig)[0] == ("a", "SELinuxChangePolicyConflict", text)
    assert [name for name, _, _ in told(rig)] == ["a", "b"]


@pytest.mark.parametrize(
    ("pods", "of", "by"),
    [
        ([pod("a", "s0:c1"), pod("b", "s0:c1")], None, None),
        ([pod("a"), pod("b")], None, None),
        ([pod("a", "s0:c1"), pod("b", "s0:c2", phase="Succeeded")], None, None),
        ([pod("a", "s0:c1"), pod("b", "s0:c2")], None, driver(mounts=False)),
        ([pod("a", "s0:c1"), pod("b", "s0:c2")], volume(nfs={"server": "s", "path": "/"}), None),
        ([pod("a", "s0:c1", "Recursive"), pod("b", "s0:c2", "Recursive")], None, None),
    ],
    ids=["same", "none", "ended", "driver-does-not-mount-labels", "nfs", "recursive"],
)
def test_others_do_not_conflict(pods, of, by):
    assert told(run(*pods, of=of, by=by)) == []


def test_a_driver_that_mounts_labels_from_now_on_is_looked_at():
    rig = run(pod("a", "s0:c1"), pod("b", "s0:c2"), by=driver(mounts=False))

    rig.client.patch(CSI_DRIVERS, "ebs", {"spec": {"seLinuxMount": True}})
    rig.settle()

    assert {reason for _, reason, _ in told(rig)} >= {"SELinuxLabelConflict"}


def test_two_labels_in_one_pod_are_told():
    mounts = [{"name": "data", "mountPath": "/data"}]
    containers = [
        {"name": each, "volumeMounts": mounts, "securityContext": {"seLinuxOptions": {"level": each}}}
        for each in ("s0:c1", "s0:c2")
    ]

    rig = run(pod("a", containers=containers))

    text = 'Volume "data" is mounted twice with different SELinux labels inside this pod'
    assert told(rig) == [("a", "MultipleSELinuxLabels", text)]


def test_pods_in_other_namespaces_are_not_named():
    cache = VolumeCache()
    cache.put("v", "one/a", Use(":::s0:c1", "MountOption"))

    first, _ = cache.put("v", "two/b", Use(":::s0:c2", "MountOption"))

    who = "another pod that uses the same volume as this pod with a different"
    assert first.message == f'SELinuxLabel":::s0:c2" conflicts with {who} SELinuxLabel. {TAIL}'


def test_a_pod_that_is_gone_conflicts_with_none():
    cache = VolumeCache()
    cache.put("v", "d/a", Use(":::s0:c1", "MountOption"))

    cache.drop("d/a")

    assert cache.put("v", "d/b", Use(":::s0:c2", "MountOption")) == []


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        ("", "", False),
        ("", "system_u:system_r:container_t:s0:c1,c2", False),
        (":::s0:c1,c2", "system_u:system_r:container_t:s0:c1,c2", False),
        (":::s0:c98,c99", "system_u:system_r:container_t:s0:c1,c2", True),
        ("system_u:::", "user_u:::", True),
        ("system_u:::", ":system_r::", False),
    ],
)
def test_parts_that_are_left_open_conflict_with_nothing(one, other, conflict):
    assert labels_conflict(one, other) is labels_conflict(other, one) is conflict


@pytest.mark.parametrize(
    ("options", "label"),
    [
        (None, ""),
        ({}, ""),
        ({"level": "s0:c1"}, ":::s0:c1"),
        ({"user": "u", "role": "r", "type": "t", "level": "s0"}, "u:r:t:s0"),
    ],
)
def test_options_are_a_label(options, label):
    assert file_label(options) == label


def test_the_conflicts_of_now_are_told_in_numbers():
    rig = run(pod("a", "s0:c1"), pod("b", "s0:c2"), pod("c", "s0:c1", "Recursive"))
    registry = CollectorRegistry()
    registry.register(rig.plugins[0]._metrics)

    def rows():
        (family,) = registry.collect()
        assert family.name == "selinux_warning_controller_selinux_volume_conflict"
        return sorted(
            (row.labels["property"], row.labels["pod1_name"], row.labels["pod2_name"], row.value)
            for row in family.samples
        )

    policies = [("SELinuxChangePolicy", one, two, 1.0) for one, two in ("ac", "bc", "ca", "cb")]
    labels = [("SELinuxLabel", "a", "b", 1.0), ("SELinuxLabel", "b", "a", 1.0)]
    assert rows() == policies + labels

    rig.client.delete(PODS, "b", "d", options={"gracePeriodSeconds": 0})
    rig.settle()
    assert rows() == [("SELinuxChangePolicy", "a", "c", 1.0), ("SELinuxChangePolicy", "c", "a", 1.0)]
