"""Scripts that start servers on their usual ports: each gets a network of its own, and leaves no process behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 240
NOBODY = "65534"
AS_USER = (
    f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"
    " --inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search"
)
"""An ordinary user, who may read where Python is installed, be it in root's own folder."""
OWN = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child")
ENTER = """
ip link set lo up
{user} bash -e {script}
"""
"""The servers have the usual ports; whatever happens, they end with the script.

The shell stays, as the first process of the namespace: it dies with its parent, and takes all others along. A process that
changes its user would not, since the kernel then forgets that it was to die.
"""


def missing() -> str:
    """Return why scripts cannot get a network of their own here, or nothing."""
    absent = [name for name in ("unshare", "ip", "setpriv", "etcd") if shutil.which(name) is None]
    if os.geteuid() != 0:
        return "only root can make a network"
    if absent:
        return f"not installed: {', '.join(absent)}"
    return (
        "" if subprocess.run([*OWN, "true"], capture_output=True, check=False).returncode == 0 else "not allowed here"
    )


def run_script(folder: Path, commands: str, *, user: str = "") -> str:
    """Run commands with bash, ending at the first that fails, as root or through `AS_USER`; return what they printed."""
    script, enter = folder / "script.sh", folder / "enter.sh"
    script.write_text(commands)
    enter.write_text(ENTER.format(user=user, script=script))
    if user:
        os.chown(folder, int(NOBODY), int(NOBODY))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = [*OWN, "bash", "-e", str(enter)]
    log = folder / "output.txt"
    with log.open("wb") as output:
        done = subprocess.run(
            words, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=SECONDS,
            env={**os.environ, "PATH": path, "HOME": str(folder)}, check=False,
        )  # fmt: skip
    text = log.read_text()
    assert done.returncode == 0, text[-6000:]
    return text
