"""The addresses that a result of any version tells.

Source: CNI ``SPEC.md`` section 5, and the results of the versions before.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from hyperkube_lib.cni.errors import CniError


def addresses(result: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the addresses of the pod's interface, in the order in which the result has them.

    Raises:
        CniError: there is none, or it is no address.
    """
    found = [_address(entry) for entry in _entries(result)]
    if not found:
        raise CniError("the network's result has no address")
    return tuple(dict.fromkeys(found))


def _entries(result: Mapping[str, Any]) -> list[str]:
    if "ip4" in result or "ip6" in result:  # of 0.1.0 and 0.2.0
        return [str((result.get(family) or {}).get("ip", "")) for family in ("ip4", "ip6") if result.get(family)]
    interfaces = result.get("interfaces") or []
    entries = []
    for entry in result.get("ips") or []:
        index = entry.get("interface")
        inside = not isinstance(index, int) or not 0 <= index < len(interfaces) or interfaces[index].get("sandbox")
        if inside:
            entries.append(str(entry.get("address", "")))
    return entries


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_interface(text).ip)
    except ValueError as error:
        raise CniError(f"the network's result has an invalid address {text!r}") from error
