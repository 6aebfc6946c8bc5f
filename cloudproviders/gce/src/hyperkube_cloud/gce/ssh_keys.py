"""SSH keys that open all machines of the project: lines of one item of the metadata that they have in common.

Source: kubernetes 1.15 ``pkg/cloudprovider/providers/gce/gce_instances.go`` (AddSSHKeyToAllInstances); the shapes are
those of ``projects.get`` and ``projects.setCommonInstanceMetadata`` in the discovery document of compute v1.
"""

from __future__ import annotations

from typing import Final

from hyperkube_cloud.gce.compute import Compute
from hyperkube_lib.cloud_provider.rest import Json, Refused

from hyperkube.hookspecs.cloud import CloudUnavailable

ITEM: Final = "sshKeys"
TRIES: Final = 5
CHANGED_MEANWHILE: Final = 412
"""What the API answers where another has written the metadata since they were read: the fingerprint is not theirs."""


def add_key(compute: Compute, user: str, public_key: str) -> None:
    """Add a user's public key, ``TYPE BASE64``, beside the others; nothing is written where it stands already.

    Raises:
        Refused: the metadata change between reading and writing again and again; also all that `Compute.change` raises.
    """
    line = f"{user}:{public_key.strip()} {user}@{user}"
    for left in reversed(range(TRIES)):
        metadata = _with_line(compute.project().get("commonInstanceMetadata") or {}, line)
        if metadata is None:
            return
        try:
            compute.change("POST", "setCommonInstanceMetadata", metadata)
        except Refused as error:
            if error.status != CHANGED_MEANWHILE or not left:
                raise
        else:
            return


def _with_line(metadata: Json, line: str) -> Json | None:
    """Return the metadata with a line of `ITEM` more, None where it is there."""
    items = metadata.get("items") or []
    if not isinstance(items, list) or not all(isinstance(row, dict) and "key" in row for row in items):
        raise CloudUnavailable("the API describes a project's metadata without keys")
    held = next((str(row.get("value") or "") for row in items if row["key"] == ITEM), "")
    if line in held.splitlines():
        return None
    value = f"{held}\n{line}" if held else line
    rows = [row for row in items if row["key"] != ITEM]
    return {**metadata, "items": [*rows, {"key": ITEM, "value": value}]}
