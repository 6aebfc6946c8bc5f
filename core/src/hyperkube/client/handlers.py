"""What subscribers of an informer are told of its events. Source: client-go ``tools/cache/controller.go``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hyperkube.machinery.objects import Object

Handler = Callable[[Object], None]
UpdateHandler = Callable[[Object, Object], None]


def nothing(_obj: Object) -> None:
    """Handle an event that the subscriber did not ask for."""


def no_update(_old: Object, _new: Object) -> None:
    """Handle an update that the subscriber did not ask for."""


class Handlers(NamedTuple):
    """Those of one subscriber."""

    on_add: Handler
    on_update: UpdateHandler
    on_delete: Handler
