"""What a cluster's ports show to a client without credentials: another user of the machine, say."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

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
    """Return the pages that one of the ports shows.

    The ports are asked at once, since some wait for what is no HTTP, and each one request after another: a server keeps
    the threads that many at a time have taken.
    """

    def shown(place: str) -> list[str]:
        urls = (f"{scheme}://{place}{page}" for page in PAGES for scheme in ("http", "https"))
        codes = {url: curl(url, "-k", "-o", "/dev/null", "-w", "%{http_code}", check=False).out for url in urls}
        return [f"{url}: {code}" for url, code in codes.items() if code.startswith("2")]

    with ThreadPoolExecutor(16) as pool:
        return [page for pages in pool.map(shown, listeners(pids)) for page in pages]
