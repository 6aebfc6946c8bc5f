"""The process runtime: pods as plain processes of this machine, for machines without root, daemons or images.

A container is a process group with a shim beside it, so that it outlives the kubelet and nothing of its end
is lost. Its only image is ``host``: the machine itself. Containers run as the user who runs the node, see the whole
machine and share its network (each pod is given an address of its own to bind to): creating a pod equals being that
user. Where the kernel allows it, volumes appear at their mount paths in a private view of the file system; everywhere
they appear under ``$HYPERKUBE_ROOT``, the container's working folder. Of the limits and of the security context what
can be honoured is (see `confinement`); an event names the fields of a pod that cannot (see `unhonoured`).
"""

from __future__ import annotations

from pathlib import Path

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Process", "ProcessSettings"]


class ProcessSettings(Record):
    """Settings of the process runtime.

    Attributes:
        root_dir: the folder below which the runtime stores its state.
        private_views: whether to try to give containers a private view with their volumes at the mount paths.
    """

    root_dir: str = "/var/lib/kubelet"
    private_views: bool = True


class Process(Plugin):
    """Builds the process runtime under ``--root-dir``."""

    @hookimpl
    def runtime_build(self) -> Runtime:
        """Build it, with the containers of earlier runs.

        Raises:
            UsageError: the folder cannot be used.
        """
        from hyperkube_runtime.process.runtime import ProcessRuntime

        settings = self.settings(ProcessSettings)
        root = Path(settings.root_dir).absolute() / "process"
        try:
            return ProcessRuntime(
                root, clock=self.context.clock, logger=self.context.logger, private_views=settings.private_views
            )
        except OSError as error:
            raise UsageError(f"the process runtime cannot use the folder {str(root)!r}: {error.strerror}") from error
