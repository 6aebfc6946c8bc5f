"""The two ways into one server: objects for this process, and bytes."""

from __future__ import annotations

from typing import NamedTuple

from hyperkube_host.apiserver.aggregation.kept_connections import KeptConnections
from hyperkube_host.apiserver.pipeline.handler import ApiHandler
from hyperkube_host.apiserver.pipeline.pipeline import Pipeline


class RequestPath(NamedTuple):
    """How a server's requests are answered: by the pipeline where no bytes are needed, else by the handler."""

    pipeline: Pipeline
    handler: ApiHandler
    kept: KeptConnections | None = None
    """Connections to other servers that are left open for the next request of a client in this process."""
