"""The variables that a container is started with."""

from __future__ import annotations

import os

from hyperkube_runtime.process import user

from hyperkube.hookspecs.runtime import Config

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(config: Config, hostname: str, rootfs: str, uid: int) -> list[tuple[str, str]]:
    """Return the container's variables over the few that an image would bring."""
    base = {
        "PATH": os.environ.get("PATH", _DEFAULT_PATH),
        "HOME": user.home(uid),
        "HOSTNAME": hostname,
        "HYPERKUBE_ROOT": rootfs,
    }
    if config.get("tty"):
        base["TERM"] = "xterm"
    if "LANG" in os.environ:
        base["LANG"] = os.environ["LANG"]
    own = {entry["key"]: entry.get("value", "") for entry in config.get("envs", ())}
    return list((base | own).items())
