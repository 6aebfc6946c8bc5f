"""``/checkpoint``: the state of a running container as an archive on the node.

Sources: kubernetes ``pkg/kubelet/server/server.go`` (checkpoint), ``pkg/kubelet/kubelet.go`` (CheckpointContainer).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hyperkube.hookspecs.runtime import Checkpoints, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import BadRequest, InternalError
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.times import format_time

FOLDER = "checkpoints"
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_MOST_SECONDS = 2**63 - 1
"""What Go reads into 64 bits."""


def timeout_of(query: Mapping[str, Sequence[str]]) -> float:
    """Return the seconds that ``timeout`` gives the runtime, 0 for its own choice.

    Raises:
        BadRequest: it is no number.
    """
    text = next(iter(query.get("timeout", ())), "")
    if text and (not _INTEGER.fullmatch(text) or abs(int(text)) > _MOST_SECONDS):
        raise BadRequest(f"cannot parse value of timeout parameter: {text!r}")
    return float(text or 0)


def checkpoint_container(
    runtime: Runtime, root: Path, clock: Clock, pod: Object, container: str, container_id: str, timeout: float
) -> Object:
    """Have the runtime write a container to a file below the kubelet's folder; return the answer that names it.

    Raises:
        InternalError: the runtime cannot, or did not.
    """
    what = f"checkpointing of {namespace_of(pod)}/{name_of(pod)}/{container} failed"
    if not isinstance(runtime, Checkpoints):
        raise InternalError(f"{what} (the container runtime {runtime.name!r} writes no checkpoints)")
    folder = root / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    full_name = f"{name_of(pod)}_{namespace_of(pod)}"
    path = folder / f"checkpoint-{full_name}-{container}-{format_time(clock.now())}.tar"
    try:
        runtime.checkpoint_container(container_id, str(path), timeout)
    except RuntimeFailed as error:
        raise InternalError(f"{what} ({error})") from error
    return {"items": [str(path)]}
