"""How far back watches reach: as far as the store remembers, but with ``--watch-cache-sizes`` no further than it says."""

from __future__ import annotations

import pytest
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

CHANGES = 20


def first_event(*sizes):
    """Return the first event of a watch from before many changes, as its type and, for an error, its code."""
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options={**options, "watch-cache-sizes": [*sizes]}, store=MemoryStore())
    server.start()
    try:
        client = server.client(LOOPBACK)
        made = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "default"}}
        version = client.create(CONFIG_MAPS, made, "default")["metadata"]["resourceVersion"]
        for number in range(CHANGES):
            client.patch(CONFIG_MAPS, "a", {"data": {"number": str(number)}}, "default")
        try:
            event = next(iter(client.watch(CONFIG_MAPS, "default", resource_version=version)))
        except ApiError as error:
            return "ERROR", error.status_code
        return event.type, event.object.get("code")
    finally:
        server.close()


@pytest.mark.parametrize(
    ("sizes", "event"),
    [
        pytest.param([], ("MODIFIED", None), id="as-far-as-the-store-remembers"),
        pytest.param(["configmaps#5"], ("ERROR", 410), id="too-far"),
        pytest.param(["configmaps#100"], ("MODIFIED", None), id="not-too-far"),
        pytest.param(["secrets#5"], ("MODIFIED", None), id="another-resource"),
    ],
)
def test_a_watch_from_before_what_is_kept_is_gone(sizes, event):
    assert first_event(*sizes) == event
