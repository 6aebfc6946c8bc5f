"""A volume with the reclaim policy Recycle is emptied by a pod, and can be claimed again."""

from __future__ import annotations

from local_cluster import eventually


def test_a_released_volume_is_emptied_and_available_again(room, scratch):
    folder = scratch / "recycled"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("old")
    size = {"storage": "1Gi"}
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand"}
    volume = {"capacity": size, "persistentVolumeReclaimPolicy": "Recycle", "hostPath": {"path": str(folder)}, **modes}
    claim = {"resources": {"requests": size}, "volumeName": room.name, **modes}
    room.apply(
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": room.name}, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": claim},
    )
    room.kubectl("wait", "--for=jsonpath={.status.phase}=Bound", "pvc/c", "--timeout=60s")

    room.kubectl("delete", "pvc", "c")

    room.kubectl("wait", "--for=jsonpath={.status.phase}=Available", f"pv/{room.name}", "--timeout=90s")
    assert list(folder.iterdir()) == []
    said = eventually(lambda: "VolumeRecycled" in (text := room.kubectl("describe", "pv", room.name).out) and text)
    assert "Recycler pod: " in said
    room.kubectl("delete", "pv", room.name)
