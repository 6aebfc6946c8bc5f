"""The pods that a cluster leaves to its container runtime: processes, or containers of a daemon that runs on.

`up` writes down which runtime its node had, for `reset` to find them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson
from hyperkube_command.local_cluster.arguments import ClusterOptions
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.hookspecs.runtime import Runtime, RuntimeFailed, SandboxStatus
from hyperkube.machinery.errors import UsageError

PROCESS, REMOTE = "process", "remote"
_ENDPOINTS = ("container-runtime-endpoint", "docker-endpoint")


def remember_runtime(cluster: ClusterOptions) -> None:
    """Write down which runtime the node has, and where it listens."""
    flags = dict(flag.lstrip("-").partition("=")[::2] for flag in cluster.extra.get("kubelet", ()))
    settings = {name.replace("-", "_"): value for name in _ENDPOINTS if (value := flags.get(name))}
    _file(cluster.layout).write_bytes(orjson.dumps({"runtime": cluster.runtime, "settings": settings}))


def end_pods(layout: Layout, build: Callable[[str, dict[str, str]], Runtime | None]) -> list[str]:
    """End what is left of the cluster's pods, and of no others; return what could not be done, a line each.

    `build` makes a runtime by its name and settings, None for one that is not installed.
    """
    if not any(layout.kubelet.glob("*")):
        return []
    name, settings = _remembered(layout)
    try:
        runtime = build(name, settings)
    except UsageError as error:
        return [f"pods of the runtime {name!r} are left: {error}"]
    if runtime is None:
        return []
    try:
        return list(_end(runtime, _of_cluster(runtime.sandboxes(), name, layout)))
    except RuntimeFailed as error:
        return [f"pods of the runtime {name!r} are left: {error}"]
    finally:
        runtime.close()


def build_runtime(root: Path, name: str, settings: dict[str, str]) -> Runtime | None:
    """Return the runtime of that name, None where it is not installed.

    Raises:
        UsageError: its daemon does not answer.
    """
    from hyperkube.hookspecs import runtime as specs
    from hyperkube.plugin import PluginContext, PluginNotFound, load

    given = {"root_dir": str(root)} if name == PROCESS else dict(settings)
    if name == REMOTE and "container_runtime_endpoint" not in given:
        from hyperkube_host.kubelet.options import RUNTIME_SOCKETS

        found = next((path for path in RUNTIME_SOCKETS if Path(path).is_socket()), RUNTIME_SOCKETS[0])
        given["container_runtime_endpoint"] = f"unix://{found}"
    context = lambda plugin: PluginContext(name=plugin, settings=given, logger=logging.getLogger("hyperkube"))  # noqa: E731  passed on, and nothing else
    try:
        host = load("runtime", [name], specs, context)
    except PluginNotFound:
        return None
    runtime: Runtime = host.hook.runtime_build()
    return runtime


def _file(layout: Layout) -> Path:
    return layout.root / "runtime.json"


def _remembered(layout: Layout) -> tuple[str, dict[str, str]]:
    try:
        known = orjson.loads(_file(layout).read_bytes())
        return str(known["runtime"]), {str(name): str(value) for name, value in known["settings"].items()}
    except FileNotFoundError:
        return PROCESS, {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{_file(layout)} cannot be read: {error}") from error


def _of_cluster(sandboxes: Iterable[SandboxStatus], name: str, layout: Layout) -> list[SandboxStatus]:
    """Return those of the cluster's pods: a daemon has others, whose pods have no folder here."""
    if name == PROCESS:
        return list(sandboxes)
    pods = layout.kubelet / "pods"
    return [sandbox for sandbox in sandboxes if (pods / sandbox.uid).is_dir()]


def _end(runtime: Runtime, sandboxes: Iterable[SandboxStatus]) -> Iterable[str]:
    for sandbox in sandboxes:
        try:
            runtime.stop_sandbox(sandbox.id)
            runtime.remove_sandbox(sandbox.id)
        except RuntimeFailed as error:
            yield f"pod {sandbox.namespace}/{sandbox.name} is left: {error}"
