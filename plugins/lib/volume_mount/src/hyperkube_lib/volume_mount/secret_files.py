"""Keys on their way to the programs of the node: out of a Secret, into a file that only the program's user can read.

A command line is for every process of the node to read, and ends in messages and logs.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, namespace_of

_KEY = "key"
_IN_MEMORY = "/run"
"""A tmpfs on nodes with systemd: what is written there reaches no disk."""


def secret_key(get_secret: Callable[[str, str], Object], pod: Object, reference: Object) -> str:
    """Return the key that a Secret holds: its member ``key``, or the last of its members.

    Args:
        get_secret: (namespace, name) → Secret.
        pod: whose namespace the Secret is in, unless the reference says another.
        reference: the ``secretRef`` of a volume.

    Raises:
        VolumeFailed: it is not there, or holds no key.

    Source: kubernetes ``pkg/volume/rbd/rbd.go`` (parseSecretMap).
    """
    namespace, name = str(reference.get("namespace") or namespace_of(pod)), str(reference.get("name") or "")
    try:
        data = get_secret(namespace, name).get("data") or {}
    except ApiError as error:
        raise VolumeFailed(f"couldn't get secret {namespace}/{name} err: {error.message}") from error
    if not data:
        raise VolumeFailed(f"secret {namespace}/{name}: empty secret map")
    value = data[_KEY] if _KEY in data else data[max(data)]
    try:
        return base64.b64decode(value).decode("ascii").strip()
    except ValueError:
        # Not chained: the failure's own text shows a piece of the value.
        raise VolumeFailed(f"secret {namespace}/{name}: what it holds is no key") from None


@contextmanager
def secret_file(text: str) -> Iterator[str]:
    """Keep `text` in a file, whose path is returned, until the block ends."""
    place = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="hyperkube-", dir=place) as folder:
        file = Path(folder, "secret")
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        yield str(file)
