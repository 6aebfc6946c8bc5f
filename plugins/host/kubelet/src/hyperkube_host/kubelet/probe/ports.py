"""The port that a probe or hook connects to. Source: kubernetes ``pkg/probe/util.go`` (ResolveContainerPort)."""

from __future__ import annotations

from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object


def port_number(port: object, container: Object) -> int:
    """Return a port given as number, as text or by the name it has in the container.

    Raises:
        ValueError: the container has no port of that name, or the number is out of range.
    """
    if isinstance(port, str):
        for entry in container.get("ports") or []:
            if entry.get("name") == port:
                return int(entry["containerPort"])
        if not port.isdecimal():
            raise ValueError(f"strconv.Atoi: parsing {quote(port)}: invalid syntax")
    number = int(str(port))
    if not 0 < number < 65536:
        raise ValueError(f"invalid port number: {number}")
    return number
