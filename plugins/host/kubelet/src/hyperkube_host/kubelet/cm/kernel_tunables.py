"""``--protect-kernel-defaults``: the kubelet does not start where the kernel is not set as Kubernetes wants it.

Without the flag Kubernetes changes what differs. Here the machine's settings are never changed: those who run the
machine know why they are so, and none of them is needed to run pods.

Source: kubernetes ``pkg/kubelet/cm/container_manager_linux.go`` (setupKernelTunables),
``staging/src/k8s.io/component-helpers/node/util/sysctl``.
"""

from __future__ import annotations

import logging
from pathlib import Path

from hyperkube.machinery.errors import UsageError

SYSCTLS = Path("/proc/sys")
WANTED = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}
_log = logging.getLogger("hyperkube.kubelet.cm")


def check_kernel_tunables(*, protects: bool, sysctls: Path = SYSCTLS) -> None:
    """Compare the kernel's settings with those wanted; what differs is an error with `protects`, else logged.

    Raises:
        UsageError: one differs, or cannot be read.
    """
    problems = []
    for name, wanted in WANTED.items():
        try:
            value = int((sysctls / name).read_text())
        except (OSError, ValueError) as error:
            problems.append(str(error))
            continue
        if value != wanted:
            problems.append(f"invalid kernel flag: {name}, expected value: {wanted}, actual value: {value}")
    if not problems:
        return
    if protects:
        raise UsageError(f"Failed to start ContainerManager: [{', '.join(problems)}]")
    _log.info("the kernel's settings are left as they are: %s", "; ".join(problems))
