"""The two ways into one server: objects for this process, and bytes."""

from __future__ import annotations

from typing import NamedTuple

from hyperkube_host.apiserver.pipeline.handler import ApiHandler
from hyperkube_host.apiserver.pipeline.pipeline import Pipeline


class RequestPath(NamedTuple):
    """How a server's requests are answered: by the pipeline where no bytes are needed, else by the handler."""

    pipeline: Pipeline
    handler: ApiHandler
