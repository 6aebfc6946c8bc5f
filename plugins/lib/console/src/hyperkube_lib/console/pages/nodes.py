"""Nodes: a heat map of what is requested and used, and the list."""

from __future__ import annotations

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.node_use import RESOURCES, NodeUse, node_uses
from hyperkube_lib.console.pages.tables import watch_url
from hyperkube_lib.console.reader import Reader

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object

METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"
MOST_TILES = 2000
USE_SECONDS = 5.0


def register(app: flask.Flask) -> None:
    """Add the page."""
    app.add_url_rule("/nodes", "nodes", nodes)


def nodes() -> str:
    """Show the heat map and the list."""
    reader = here.reader()
    resource = here.resource_of(NODES)
    table = here.table(resource, "", fresh=here.is_fragment())
    tiles, lacks = here.remembered(("uses", reader.at), USE_SECONDS, lambda: _uses(reader))
    wanted = flask.request.args.get("by", "cpu")
    return here.page(
        "nodes.html",
        section="nodes",
        resource=resource,
        table=table,
        tiles=tiles[:MOST_TILES],
        left_out=max(0, len(tiles) - MOST_TILES),
        lacks=lacks,
        by=wanted if wanted in RESOURCES else "cpu",
        what="used" if flask.request.args.get("what") == "used" else "requested",
        kinds=RESOURCES,
        watch=watch_url(NODES, "", table.revision),
    )


def _uses(reader: Reader) -> tuple[list[NodeUse], list[str]]:
    """Return the tiles, and what could not be read."""
    lacks: list[str] = []
    try:
        pods = list(reader.objects(PODS, fields="spec.nodeName!="))
    except ApiError:
        pods = []
        lacks.append("requests: you may not list pods in all namespaces")
    metrics: list[Object] = []
    if reader.at:
        lacks.append("use: it is measured now only")
    else:
        try:
            metrics = reader.json(METRICS).get("items") or []
        except (ApiError, OSError):
            lacks.append("use: the resource metrics API does not answer")
    return node_uses(reader.objects(NODES), pods, metrics), lacks
