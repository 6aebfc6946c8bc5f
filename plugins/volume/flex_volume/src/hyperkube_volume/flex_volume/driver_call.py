"""FlexVolume's protocol: a program, a word for what to do, options as JSON, and an answer as JSON.

A driver says ``Not supported`` to what it leaves to the kubelet. Options, secrets among them, are arguments of the
program: the protocol has no other way. No message of ours shows them.
Source: kubernetes ``pkg/volume/flexvolume/driver-call.go``.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson
from hyperkube_lib.volume_mount import Programs

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object

SUCCESS: Final = "Success"
NOT_SUPPORTED: Final = "Not supported"
MOST_OUTPUT = 1 << 20
_PREFIX = "kubernetes.io/secret/"
"""What the options begin with that are entries of a secret."""
_SHORTEST_SECRET = 4
"""What is shorter keeps nothing secret, and is found in every word."""
_LONGEST_MESSAGE = 1024
"""Characters of a driver's message that are passed on: events take no more."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?")


class CallNotSupported(HyperkubeError):
    """The driver leaves this step to its caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a driver says of itself when it is first called."""

    attach: bool = True
    selinux_relabel: bool = True
    fs_group: bool = True
    requires_fs_resize: bool = True


def driver_path(folder: Path, driver: str) -> Path:
    """Return the program of a driver: ``VENDOR~DRIVER/DRIVER`` for the name ``VENDOR/DRIVER``.

    Raises:
        VolumeFailed: the name is none, or no such program is installed.
    """
    if not _NAME.fullmatch(driver):
        raise VolumeFailed(f"{driver!r} is not the name of a FlexVolume driver")
    path = folder / driver.replace("/", "~") / driver.rpartition("/")[2]
    if not path.is_file():
        raise VolumeFailed(f"no volume plugin matched name: flexvolume-{driver} (looked for {path})")
    return path


def options_of(
    source: Mapping[str, Any], *, name: str, read_only: bool, pod: Object | None = None, fs_group: int | None = None,
    secret: Object | None = None,
) -> str:  # fmt: skip
    """Return the JSON with a volume's own options, what the kubelet adds, and the entries of its secret."""
    made: dict[str, str] = {
        "kubernetes.io/fsType": str(source.get("fsType") or ""),
        "kubernetes.io/readwrite": "ro" if read_only else "rw",
        "kubernetes.io/pvOrVolumeName": name,
    }
    if fs_group is not None:
        made["kubernetes.io/mounterArgs.FsGroup"] = str(fs_group)
    if pod is not None:
        meta = pod["metadata"]
        made |= {
            "kubernetes.io/pod.name": str(meta["name"]),
            "kubernetes.io/pod.namespace": str(meta["namespace"]),
            "kubernetes.io/pod.uid": str(meta.get("uid", "")),
            "kubernetes.io/serviceAccount.name": str((pod.get("spec") or {}).get("serviceAccountName") or ""),
        }
    for key, value in ((secret or {}).get("data") or {}).items():
        made[_PREFIX + key] = str(value)
    for key, value in ((secret or {}).get("stringData") or {}).items():
        made[_PREFIX + key] = b64encode(str(value).encode()).decode()
    return orjson.dumps(made | dict(source.get("options") or {}), option=orjson.OPT_SORT_KEYS).decode()


def without_secrets(text: str, arguments: Sequence[str]) -> str:
    """Return what a driver prints without the secrets that it was given as arguments, as they are or decoded.

    A driver that fails may print its arguments, and its words become events, which many may read.
    """
    secrets = {value for argument in arguments for value in _secrets_in(argument)}
    for value in sorted(secrets, key=len, reverse=True):  # one may be a part of another
        text = text.replace(value, "***")
    return text


def _secrets_in(argument: str) -> set[str]:
    """Return the values of secrets in options, in base64 and as what that stands for."""
    try:
        options = orjson.loads(argument)
    except orjson.JSONDecodeError:
        return set()  # a path, a device, a size
    if not isinstance(options, dict):
        return set()
    found = {str(value) for key, value in options.items() if key.startswith(_PREFIX)}
    for value in tuple(found):
        with suppress(ValueError):  # a pod's own option may have such a key, and any value
            found.add(b64decode(value).decode(errors="replace").strip())
    return {value for value in found if len(value) >= _SHORTEST_SECRET}


class Driver:
    """One driver's program."""

    def __init__(self, name: str, path: Path, programs: Programs) -> None:
        self.name, self._path, self._programs = name, path, programs

    def init(self) -> Capabilities:
        """Let the driver make itself ready, and return what it can.

        Raises:
            VolumeFailed: it says that it cannot be used.
        """
        told = self.call("init").get("capabilities") or {}
        if not isinstance(told, dict):
            raise VolumeFailed(f"driver {self.name!r}, call 'init': capabilities are no object")
        return Capabilities(
            attach=bool(told.get("attach", True)),
            selinux_relabel=bool(told.get("selinuxRelabel", True)),
            fs_group=bool(told.get("fsGroup", True)),
            requires_fs_resize=bool(told.get("requiresFSResize", True)),
        )

    def call(self, word: str, *arguments: str) -> dict[str, Any]:
        """Call the driver and return its answer.

        Raises:
            CallNotSupported: it leaves this step to the caller.
            VolumeFailed: with its own message; also when what it prints is no answer.
        """
        done = self._programs.run([str(self._path), word, *arguments])
        where = f"driver {self.name!r}, call {word!r}"
        if len(done.output) > MOST_OUTPUT:
            raise VolumeFailed(f"{where}: more than {MOST_OUTPUT} characters were printed")
        try:
            answer = orjson.loads(done.output)
        except orjson.JSONDecodeError as error:
            said = " ".join(without_secrets(done.output, arguments).split())[:200]
            raise VolumeFailed(f"{where}: no JSON was printed ({done.problem}): {said!r}") from error
        if not isinstance(answer, dict):
            raise VolumeFailed(f"{where}: an object was expected, not {type(answer).__name__}")
        status = answer.get("status")
        if status == NOT_SUPPORTED:
            raise CallNotSupported(f"{where}: not supported")
        if status != SUCCESS or done.code:
            text = without_secrets(str(answer.get("message") or done.problem), arguments)[:_LONGEST_MESSAGE]
            raise VolumeFailed(f"{where}: {status}: {text}")
        return answer
