"""What a cluster's ports show to a client without credentials: another user of the machine, say."""

from __future__ import annotations

from collections.abc import Iterable

import psutil
from local_cluster import curl

PAGES = ("/metrics", "/configz", "/debug/pprof/", "/pods", "/api/v1/secrets")


def listeners(pids: Iterable[int]) -> list[str]:
    """Return address and port of everything that these processes listen on by TCP."""
    found = set()
    for pid in pids:
        for one in psutil.Process(pid).net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN:
                found.add(
                    f"[{one.laddr.ip}]:{one.laddr.port}" if ":" in one.laddr.ip else f"{one.laddr.ip}:{one.laddr.port}"
                )
    return sorted(found)


def shown_to_strangers(pids: Iterable[int]) -> list[str]:
    """Return the pages that one of the ports shows."""
    shown = []
    for place in listeners(pids):
        for url in (f"{scheme}://{place}{page}" for page in PAGES for scheme in ("http", "https")):
            code = curl(url, "-k", "-o", "/dev/null", "-w", "%{http_code}", check=False).out
            if code.startswith("2"):
                shown.append(f"{url}: {code}")
    return shown
