"""Flags that command lines of other kubelets carry along: each is taken, with a warning that it has no effect.

Each says why: what it set is gone, is another program's by now, or is the machine's to decide.

Source: kubernetes ``cmd/kubelet/app/options``.
"""

from hyperkube.plugin.flags import BOOL, DURATION, INT, LIST, STRING, Flag, unbuilt

_CADVISOR = "no effect: usage is read from the runtime and the cgroups"
_STORAGE_DRIVER = "no effect: there is no database of usage"

ACCEPTED = unbuilt(
    Flag("rkt-path", STRING, "", "no effect: the runtime rkt is no more"),
    Flag("redirect-container-streaming", BOOL, False, "no effect: streams go through the kubelet, as since 1.20"),
    Flag("configure-cbr0", BOOL, False, "no effect: --network-plugin=kubenet makes the bridge"),
    Flag("iptables-masquerade-bit", INT, 14, "no effect: packets of Services are marked by the proxy alone"),
    Flag("iptables-drop-bit", INT, 15, "no effect: packets of Services are marked by the proxy alone"),
    Flag("containerized", BOOL, False, "no effect: give the kubelet's container the host's mounts to share"),
    Flag(
        "experimental-check-node-capabilities-before-mount",
        BOOL,
        False,
        "no effect: a mount program that is missing is told when it is called",
    ),
    Flag("tls-curve-preferences", LIST, "", "no effect: OpenSSL chooses the curve"),
    Flag("application-metrics-count-limit", INT, 100, _CADVISOR),
    Flag("boot-id-file", STRING, "/proc/sys/kernel/random/boot_id", _CADVISOR),
    Flag("container-hints", STRING, "/etc/cadvisor/container_hints.json", _CADVISOR),
    Flag("containerd", STRING, "/run/containerd/containerd.sock", _CADVISOR),
    Flag("containerd-namespace", STRING, "k8s.io", _CADVISOR),
    Flag("enable-load-reader", BOOL, False, _CADVISOR),
    Flag("event-storage-age-limit", STRING, "default=0", _CADVISOR),
    Flag("event-storage-event-limit", STRING, "default=0", _CADVISOR),
    Flag("global-housekeeping-interval", DURATION, "1m0s", _CADVISOR),
    Flag("housekeeping-interval", DURATION, "10s", _CADVISOR),
    Flag("log-cadvisor-usage", BOOL, False, _CADVISOR),
    Flag("machine-id-file", STRING, "/etc/machine-id,/var/lib/dbus/machine-id", _CADVISOR),
    Flag("storage-driver-buffer-duration", DURATION, "1m0s", _STORAGE_DRIVER),
    Flag("storage-driver-db", STRING, "cadvisor", _STORAGE_DRIVER),
    Flag("storage-driver-host", STRING, "localhost:8086", _STORAGE_DRIVER),
    Flag("storage-driver-password", STRING, "root", _STORAGE_DRIVER),
    Flag("storage-driver-secure", BOOL, False, _STORAGE_DRIVER),
    Flag("storage-driver-table", STRING, "stats", _STORAGE_DRIVER),
    Flag("storage-driver-user", STRING, "root", _STORAGE_DRIVER),
)
