"""Names of Services in the hosts files of pods, for a node whose pods ask for cluster DNS and can have none.

Resolvers ask port 53 and no other, and an ordinary user may not bind it. What every libc reads before it asks is the
hosts file. It has no wildcards, no SRV and one order of addresses, so headless Services are left out.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from hyperkube_host.kubelet.directories import KubeletDirectories

from hyperkube.machinery.objects import Object, name_of, namespace_of

MARK = "\n# Services of the cluster, as seen from namespace "


def service_section(services: Iterable[Object], namespace: str, domain: str) -> str:
    """Return the part of a hosts file that names the Services with an address, for pods of a namespace."""
    lines = [f"{MARK}{namespace}\n"]
    for service in sorted(services, key=lambda each: (namespace_of(each), name_of(each))):
        name, home, spec = name_of(service), namespace_of(service), service.get("spec") or {}
        full = f"{name}.{home}.svc"
        names = [f"{full}.{domain}", full, f"{name}.{home}", *([name] if home == namespace else [])]
        addresses = spec.get("clusterIPs") or [spec.get("clusterIP")]
        lines += ["\t".join([address, *names]) + "\n" for address in addresses if address and address != "None"]
    return "".join(lines)


class ServiceHosts:
    """Puts the Services into hosts files, and keeps what is there up to date.

    Args:
        directories: where the pods' hosts files are.
        services: returns all Services.
        domain: the cluster's.
        wanted: whether a pod's hosts file is to name them.
    """

    def __init__(
        self,
        directories: KubeletDirectories,
        services: Callable[[], list[Object]],
        domain: str,
        wanted: Callable[[Object], bool],
    ) -> None:
        self._directories = directories
        self._services = services
        self._domain = domain
        self._wanted = wanted
        self._lock = threading.Lock()

    def write(self, file: Path, own: str, pod: Object) -> None:
        """Write a pod's hosts file: what it has of its own, and the Services if the pod is to have them."""
        # Under the lock: what was read of the Services must not come after what a later `refresh` writes.
        with self._lock:
            section = service_section(self._services(), namespace_of(pod), self._domain) if self._wanted(pod) else ""
            file.write_text(own + section)

    def refresh(self) -> None:
        """Rewrite the section in all files that have one, also those of a kubelet before this one.

        In place: a container sees the file through a mount, which a new file would not be seen by.
        """
        with self._lock:
            services = self._services()
            for uid in self._directories.pod_uids():
                # Without a file the pod has none yet, or goes.
                with contextlib.suppress(FileNotFoundError):
                    self._rewrite(self._directories.pod(uid) / "etc-hosts", services)

    def _rewrite(self, file: Path, services: list[Object]) -> None:
        old = file.read_text()
        head, mark, rest = old.partition(MARK)
        new = head + service_section(services, rest.partition("\n")[0], self._domain) if mark else old
        if new != old:
            file.write_text(new)
