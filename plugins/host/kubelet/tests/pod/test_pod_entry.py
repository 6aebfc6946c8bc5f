"""What the kubelet remembers of a pod."""

from hyperkube_host.kubelet.pod.pod_entry import PodEntry


def test_a_volume_that_was_attached_late_is_not_mounted_late_as_well():
    entry = PodEntry({"metadata": {}, "spec": {}})

    waited = [entry.count_mount_failure(awaits_attachment=True) for _ in range(3)]
    failed = [entry.count_mount_failure(awaits_attachment=False) for _ in range(2)]

    assert (waited, failed) == ([0, 1, 2], [0, 1])
