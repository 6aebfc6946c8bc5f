"""The driver csi-host-path, interrupted once before and once after what each of its calls does.

Run as ``python interrupted_driver.py HOW FOLDER csi-driver csi-host-path FLAG...``. With HOW ``die`` it ends as a crash
would. With ``hold`` it makes a file ``FOLDER/CALL-after`` and waits, without an answer, until the test has made another,
``FOLDER/CALL-after.go``: meanwhile what waits for the answer may be ended. Each moment comes once for a folder.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from hyperkube_csi.host_path.services import HostPathServices

from hyperkube.command.main import main

CONTROLLER = ("create_volume", "controller_publish_volume", "controller_unpublish_volume", "delete_volume")
NODE = ("node_stage_volume", "node_publish_volume", "node_unpublish_volume", "node_unstage_volume")
HOLD_SECONDS = 60.0


class Interruptions:
    """What comes between a call and its answer."""

    def __init__(self, folder, *, is_deadly):
        self._folder = folder
        self._is_deadly = is_deadly

    def come(self, moment):
        """Interrupt, unless this moment has come before."""
        mark = self._folder / moment
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return
        if self._is_deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        deadline = time.monotonic() + HOLD_SECONDS
        while time.monotonic() < deadline and not mark.with_name(f"{moment}.go").exists():
            time.sleep(0.05)

    def around(self, name):
        """Return a call of the driver with its interruptions."""
        call = getattr(HostPathServices, name)

        def interrupted(driver, request):
            if self._is_deadly:
                self.come(f"{name}-before")
            answer = call(driver, request)
            self.come(f"{name}-after")
            return answer

        return interrupted


if __name__ == "__main__":
    how, folder, *words = sys.argv[1:]
    interruptions = Interruptions(Path(folder), is_deadly=how == "die")
    for name in (*CONTROLLER, *NODE) if how == "die" else NODE:
        setattr(HostPathServices, name, interruptions.around(name))
    sys.argv[1:] = words
    sys.exit(main())
