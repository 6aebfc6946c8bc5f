"""A part of a process that can be closed and started anew while the others run on."""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.command.lifecycle import Lifecycle


class RestartablePart:
    """One server, or whatever else a function starts; each start has a lifecycle of its own.

    Args:
        start: starts it, and adds to the lifecycle what is to be closed.
        before_restart: is called first when it is closed only to be started again.
    """

    def __init__(self, start: Callable[[Lifecycle], None], before_restart: Callable[[], None] = lambda: None) -> None:
        self._start = start
        self._before_restart = before_restart
        self._life: Lifecycle | None = None

    def start(self) -> None:
        """Start it; what was started of it is closed again if that fails."""
        self._life = Lifecycle()
        try:
            self._start(self._life)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close it, last part first; idempotent."""
        life, self._life = self._life, None
        if life is not None:
            with life:
                pass

    def restart(self) -> None:
        """Close it and start it again."""
        self._before_restart()
        self.close()
        self.start()
