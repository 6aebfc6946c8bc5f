"""csi-snapshotter: snapshots of volumes of CSI drivers, as VolumeSnapshot and VolumeSnapshotContent ask for them.

What is a cluster's snapshot-controller and a driver's csi-snapshotter elsewhere is one controller here. Its kinds are
custom resources, which the addon ``snapshot-crds`` brings: it begins when they are there.

Source: github.com/kubernetes-csi/external-snapshotter ``pkg/common-controller``, ``pkg/sidecar-controller``.
"""

from hyperkube_controller.csi_snapshotter.controller import CsiSnapshotter

__all__ = ["CsiSnapshotter"]
