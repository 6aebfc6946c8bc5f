"""The data folder of a local cluster: where everything is, and who may use it at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import orjson

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError


def default_data_dir() -> Path:
    """Return ``$HYPERKUBE_DATA_DIR``, or ``hyperkube`` in the user's data folder (XDG base directories)."""
    given = os.environ.get("HYPERKUBE_DATA_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "hyperkube"


@dataclass(frozen=True, slots=True)
class Layout:
    """The places in one cluster's data folder."""

    root: Path

    @property
    def store(self) -> Path:
        """The folder of the embedded store."""
        return self.root / "store"

    @property
    def pki(self) -> Path:
        """Certificates and keys."""
        return self.root / "pki"

    @property
    def kubelet(self) -> Path:
        """Pods, volumes and the runtime's state."""
        return self.root / "kubelet"

    @property
    def admin_kubeconfig(self) -> Path:
        """The kubeconfig of the cluster's administrator."""
        return self.root / "admin.kubeconfig"

    @property
    def state_file(self) -> Path:
        """What the running `up` tells about itself: pid and server address."""
        return self.root / "up.json"

    @property
    def lock_file(self) -> Path:
        """Held by the running `up`."""
        return self.root / "lock"

    def kubeconfig(self, component: str) -> Path:
        """Return where a component's kubeconfig is."""
        return self.pki / f"{component}.kubeconfig"

    def create(self) -> None:
        """Make the folders, readable by their owner only.

        Raises:
            UsageError: the folder cannot be made or written.
        """
        try:
            for folder in (self.root, self.store, self.pki, self.kubelet):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot use data folder {str(self.root)!r}: {error.strerror}") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for this process.

        Raises:
            UsageError: another process holds it; the message has its pid.
        """
        descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                pid = os.pread(descriptor, 32, 0).decode().strip()
                raise UsageError(
                    f"data folder {str(self.root)!r} is in use by process {pid or 'unknown'}"
                    f" (stop it with: hyperkube down --data-dir {self.root})"
                ) from error
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)

    def holder(self) -> int | None:
        """Return the pid of the process that holds the folder, or None."""
        try:
            descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(os.pread(descriptor, 32, 0).decode().strip() or 0) or None
        finally:
            os.close(descriptor)
        return None

    def links(self) -> dict[str, str]:
        """Return what addons serve for people to open, by name: each keeps its address in a file ``NAME.url``."""
        return {file.stem: file.read_text(encoding="utf-8").strip() for file in sorted(self.root.glob("*.url"))}

    def write_state(self, state: dict[str, object]) -> None:
        """Publish what `status` shows."""
        self.state_file.write_bytes(orjson.dumps(state))

    def read_state(self) -> dict[str, object]:
        """Return what the last `up` published, or an empty dict."""
        try:
            state: dict[str, object] = orjson.loads(self.state_file.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return {}
        return state


@dataclass(frozen=True, slots=True)
class CertificateFolderLayout(Layout):
    """A layout whose certificates and kubeconfigs, the administrator's too, are in a folder of their own."""

    certificates: Path

    @property
    def pki(self) -> Path:
        """Certificates and keys."""
        return self.certificates

    @property
    def admin_kubeconfig(self) -> Path:
        """The kubeconfig of the cluster's administrator."""
        return self.certificates / "admin.kubeconfig"
