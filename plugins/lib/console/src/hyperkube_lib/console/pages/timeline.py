"""The time slider: which revisions of the past the server still has, and about when they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.reader import Reader

from hyperkube.kinds.resources import LEASES, NAMESPACES
from hyperkube.machinery.errors import ApiError, Gone

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

RANGE_SECONDS = 20.0


def register(app: flask.Flask) -> None:
    """Add what the slider asks."""
    app.add_url_rule("/time/range", "time_range", time_range)
    app.add_url_rule("/time/<int:revision>", "moment", moment)


def time_range() -> ResponseReturnValue:
    """Answer with the oldest and the latest revision that can be looked at."""
    client = here.session().acting.client
    found = here.remembered("range", RANGE_SECONDS, lambda: _range(lambda at: Reader(client, at)))
    return flask.jsonify(found)


def moment(revision: int) -> ResponseReturnValue:
    """Answer with about when a revision was: the latest that a node's lease was renewed then."""
    reader = Reader(here.session().acting.client, str(revision))
    try:
        times = [str((lease.get("spec") or {}).get("renewTime") or "") for lease in reader.objects(LEASES)]
    except ApiError as error:
        return flask.jsonify({"revision": revision, "time": "", "text": error.message})
    return flask.jsonify({"revision": revision, "time": max(times, default="")})


def _range(reader_at: Callable[[str], Reader]) -> dict[str, Any]:
    latest = int(reader_at("").client.list(NAMESPACES, limit=1).resource_version)
    return {"oldest": oldest(latest, lambda revision: _is_there(reader_at(str(revision)))), "latest": latest}


def _is_there(reader: Reader) -> bool:
    try:
        for _ in reader.objects(NAMESPACES, fields="metadata.name=default"):
            break
    except Gone:
        return False
    except ApiError as error:
        if error.status().get("code") == 410:
            return False
        raise
    return True


def oldest(latest: int, is_there: Callable[[int], bool]) -> int:
    """Return the oldest revision that is there, when all from it to the latest are: by halving."""
    low, high = 1, latest
    while low < high:
        middle = (low + high) // 2
        if is_there(middle):
            high = middle
        else:
            low = middle + 1
    return low
