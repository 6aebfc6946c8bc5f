"""Flags of the container manager."""

from __future__ import annotations

from hyperkube.plugin.flags import BOOL, DURATION, FLOAT, INT, LIST, MAP, STRING, Flag, section

FLAGS = section(
    "Resources",
    Flag("cgroup-driver", STRING, "cgroupfs", "cgroupfs or systemd; a runtime that tells its own counts more"),
    Flag("cgroup-root", STRING, "", "cgroup that those of pods are in; the root unless given"),
    Flag("cgroups-per-qos", BOOL, True, "a cgroup per quality of service, and one per pod"),
    Flag("enforce-node-allocatable", LIST, "pods", "who is held to it: pods, system-reserved, kube-reserved or none"),
    Flag(
        "system-reserved",
        MAP,
        "",
        "resources kept for the system: cpu=200m,memory=500Mi,pid=1000",
    ),
    Flag("kube-reserved", MAP, "", "resources kept for Kubernetes, as --system-reserved"),
    Flag("system-reserved-cgroup", STRING, "", "cgroup of the system's processes, limited to what is kept for it"),
    Flag("kube-reserved-cgroup", STRING, "", "cgroup of Kubernetes' processes, limited to what is kept for it"),
    Flag("reserved-cpus", STRING, "", "CPUs kept for the system and Kubernetes: 0-1,8; counts more than the amounts"),
    Flag("qos-reserved", MAP, "", "share of what is requested that lower qualities of service may not use: memory=50%"),
    Flag("pod-max-pids", INT, -1, "process ids that a pod may use; -1 no limit"),
    Flag("cpu-cfs-quota", BOOL, True, "enforce CPU limits"),
    Flag("cpu-cfs-quota-period", DURATION, "100ms", "period of the CPU quota"),
    Flag("cpu-manager-policy", STRING, "none", "none or static: whole CPUs of guaranteed containers are theirs alone"),
    Flag("cpu-manager-policy-options", MAP, "", "options of the policy static: full-pcpus-only=true"),
    Flag("cpu-manager-reconcile-period", DURATION, "10s", "how often running containers are told their CPUs"),
    Flag("memory-manager-policy", STRING, "None", "None or Static: memory of guaranteed pods from few NUMA nodes"),
    Flag("reserved-memory", STRING, "", "memory kept per NUMA node: 0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=1Gi"),
    Flag("topology-manager-policy", STRING, "none", "none, best-effort, restricted or single-numa-node"),
    Flag("topology-manager-scope", STRING, "container", "container or pod: what is aligned together"),
    Flag("topology-manager-policy-options", MAP, "", "prefer-closest-numa-nodes=true,max-allowable-numa-nodes=8"),
    Flag(
        "experimental-allocatable-ignore-eviction",
        BOOL,
        False,
        "let pods use what --eviction-hard keeps free, as far as allocatable counts",
    ),
    Flag(
        "protect-kernel-defaults",
        BOOL,
        False,
        "do not start where the kernel is not set as Kubernetes wants it; its settings are never changed",
    ),
    Flag("fail-swap-on", BOOL, True, "do not start on a machine that swaps"),
    Flag("memory-swap-behavior", STRING, "", "NoSwap or LimitedSwap (memorySwap.swapBehavior)"),
    Flag("fail-cgroupv1", BOOL, False, "do not start on a machine with cgroups of version 1"),
    Flag("memory-throttling-factor", FLOAT, 0.9, "where between request and limit memory is throttled (MemoryQoS)"),
    Flag("runtime-cgroups", STRING, "", "cgroup of the runtime, for /stats/summary"),
    Flag("kubelet-cgroups", STRING, "", "cgroup that the kubelet makes and moves to", aliases=("resource-container",)),
    Flag(
        "system-cgroups",
        STRING,
        "",
        "cgroup that processes in no other are moved to, but for those of the kernel; needs --cgroup-root",
        aliases=("system-container",),
    ),
)
