"""csi-host-path: a CSI driver whose volumes are folders, or images behind loop devices, of the machine it runs on.

A folder costs nothing and its size is only noted; an image (parameter ``backing: image``, and every block volume) has
a size that holds, and grows while it is mounted. With snapshots, clones, capacity and topology it is meant for clusters
of one machine, and as an example: everything that a driver needs stands in this package.
"""

from hyperkube_csi.host_path.driver import HostPath

__all__ = ["HostPath"]
