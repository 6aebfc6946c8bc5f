"""What a cluster's ports show to a client without credentials: another user of the machine, say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
from local_cluster import curl

NO_ANSWER = "000"
"""What curl says of a port that does not speak the scheme: no further page is asked for, each would wait anew."""
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

    def shown(place: str) -> Iterator[str]:
        for scheme in ("http", "https"):
            for page in PAGES:
                url = f"{scheme}://{place}{page}"
                code = curl(url, "-k", "-o", "/dev/null", "-w", "%{http_code}", check=False).out
                if code == NO_ANSWER:
                    break
                if code.startswith("2"):
                    yield f"{url}: {code}"

    with ThreadPoolExecutor(16) as pool:
        return [page for pages in pool.map(lambda place: [*shown(place)], listeners(pids)) for page in pages]
