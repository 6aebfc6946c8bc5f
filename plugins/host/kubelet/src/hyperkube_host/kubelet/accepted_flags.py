"""Flags that command lines of other kubelets carry along: each is taken, with a warning that it has no effect.

Source: kubernetes ``cmd/kubelet/app/options``.
"""

from hyperkube.plugin.flags import BOOL, DURATION, INT, LIST, STRING, Flag, unbuilt

_CADVISOR = "no effect: usage is read from the runtime and the cgroups"
_STORAGE_DRIVER = "no effect: there is no database of usage"

ACCEPTED = unbuilt(
    Flag("kernel-memcg-notification", BOOL, False, "no effect: memory is looked at every ten seconds"),
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
