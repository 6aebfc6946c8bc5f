"""A process of many hollow nodes: ``python -m scale.node_process``, until its input ends; then it saves what it measured."""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from pathlib import Path

import uvloop

from scale.api import Api, trusting
from scale.hollow_node import HollowNode, Pace, Watches
from scale.http_connections import Connections
from scale.samples import Samples, own_delay


def node_name(index: int) -> str:
    """Return the name of a node, counted from 0."""
    return f"hollow-{index}"


def node_token(index: int) -> str:
    """Return the token of a node: see `servers.write_tokens`."""
    return f"node-{index:08d}-token"


def node_address(index: int) -> str:
    """Return the address of a node."""
    return f"10.{index // 250}.{index % 250}.1"


async def run(servers: list[str], first: int, count: int, pace: Pace, file: Path) -> None:
    """Run the nodes until the standard input ends; idle ones have a connection each, the others share."""
    samples = Samples()
    trust = trusting()
    is_idle = pace.watches is Watches.NONE
    connections = (
        [Connections(servers, trust, most=1) for _ in range(count)] if is_idle else [Connections(servers, trust)]
    )
    streams = trusting()
    streams.set_alpn_protocols(["h2"])
    nodes = []
    for index in range(first, first + count):
        api = Api(connections[index % len(connections)], node_token(index), samples, index)
        if not pace.http1:
            api.watch_on_streams(streams)
        nodes.append(HollowNode(node_name(index), api, node_address(index), pace))
    running = asyncio.gather(own_delay(samples), *(node.run() for node in nodes))
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    gc.collect()
    gc.freeze()
    done, _ = await asyncio.wait([running, ended], return_when=asyncio.FIRST_COMPLETED)
    samples.save(file)
    if running in done:
        running.result()  # raises what ended it
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    for each in connections:
        await each.close()


def main() -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", required=True)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--start", type=float, required=True)
    parser.add_argument("--registration", type=float, required=True)
    parser.add_argument("--watches", type=Watches, default=Watches.ALL)
    parser.add_argument("--http1", action="store_true")
    parser.add_argument("--file", type=Path, required=True)
    given = parser.parse_args()
    pace = Pace(given.start, given.start, given.registration, given.watches, given.http1)
    uvloop.run(run(given.servers.split(","), given.first, given.count, pace, given.file))


if __name__ == "__main__":
    main()
