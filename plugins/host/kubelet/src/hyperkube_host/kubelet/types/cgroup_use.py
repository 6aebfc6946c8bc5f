"""What a cgroup uses, and those that are no pod's.

Source: kubernetes ``staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go`` (SystemContainerKubelet and others).
"""

from __future__ import annotations

from hyperkube.machinery.record import Record

KUBELET, RUNTIME, MISC = "kubelet", "runtime", "misc"
SYSTEM_CONTAINERS = (KUBELET, RUNTIME, MISC)
"""The names that ``/stats/summary`` has for the processes that are no pods."""


class CgroupUse(Record):
    """What the processes of a cgroup use.

    Attributes:
        cpu: nanoseconds, since it was made.
        memory: bytes that are charged to it.
        working_set: those of them that cannot be taken back at once.
    """

    cpu: int
    memory: int
    working_set: int
