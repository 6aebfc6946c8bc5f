"""hyperkube simulate: where pods would go, on a copy of a cluster that nothing is written back to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson
from hyperkube_lib.local_cluster.access import cluster_client, cluster_options
from hyperkube_lib.local_cluster.layout import default_data_dir

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_host.scheduler.simulation import SimulationResult

_FILE = click.Path(path_type=Path)
_DEFAULT = "default"


@click.command()
@click.option("--snapshot", type=_FILE, help="what `kubectl get nodes,pods,... -A -o json` or `snapshot save` wrote")
@cluster_options
@click.option("--config", type=_FILE, multiple=True, help="KubeSchedulerConfiguration or Policy; several are compared")
@click.option("--algorithm-provider", multiple=True, help="a named set of plugins; several are compared")
@click.option("--pods", type=_FILE, multiple=True, help="manifests of Pods and workloads to be scheduled")
@click.option("--plot", type=_FILE, help="write the nodes' utilisation before and after to a .svg or .html file")
@click.option("--seed", type=int, default=1, show_default=True, help="decides between nodes that score alike")
@click.option("--strict", is_flag=True, help="exit with 1 if a pod stays pending")
@click.option("--output", "-o", type=click.Choice(["table", "json"]), default="table", help="how to print it")
def command(
    snapshot: Path | None,
    kubeconfig: Path | None,
    data_dir: Path | None,
    config: Sequence[Path],
    algorithm_provider: Sequence[str],
    pods: Sequence[Path],
    plot: Path | None,
    seed: int,
    strict: bool,
    output: str,
) -> int:
    """Say where pods would go: those of the manifests, and those of the cluster that have no node.

    Example: hyperkube simulate --snapshot cluster.json --pods web.yaml --config spread.yaml --config pack.yaml
    """
    from hyperkube_command.simulate import files, report

    if snapshot is not None and kubeconfig is not None:
        raise UsageError("give --snapshot or --kubeconfig, not both")
    if plot is not None and plot.suffix not in {".svg", ".html"}:
        raise UsageError(f"--plot: {str(plot)!r} ends neither in .svg nor in .html")
    wanted = _configurations(config, algorithm_provider)
    cluster = _saved(snapshot, data_dir) if snapshot is not None else _read(kubeconfig, data_dir)
    asked = [pod for path in pods for pod in files.pods_of(files.read_objects(path), cluster, path)]
    outcomes = {
        name: _simulate(cluster, asked, files.options_of(path, provider), seed)
        for name, (path, provider) in wanted.items()
    }
    if plot is not None:
        _write(plot, outcomes)
    click.echo(orjson.dumps(report.as_data(outcomes)).decode() if output == "json" else report.as_text(outcomes))
    return int(strict and any(outcome.pending for outcome in outcomes.values()))


def _configurations(configs: Sequence[Path], providers: Sequence[str]) -> dict[str, tuple[Path | None, str]]:
    """Return what each is called → its file and provider; one provider holds for all files."""
    if configs and len(providers) > 1:
        raise UsageError("give several --config or several --algorithm-provider, not both")
    if not configs:
        return {name or _DEFAULT: (None, name) for name in providers or [""]}
    provider = providers[0] if providers else ""
    names = [path.name for path in configs]
    return {str(path) if names.count(path.name) > 1 else path.name: (path, provider) for path in configs}


def _saved(snapshot: Path, data_dir: Path | None) -> list[Object]:
    from hyperkube_command.simulate import saved_store
    from hyperkube_command.simulate.files import read_objects

    path = saved_store.place_of(snapshot, data_dir or default_data_dir())
    return saved_store.read_saved_store(path) if saved_store.is_saved_store(path) else read_objects(path)


def _read(kubeconfig: Path | None, data_dir: Path | None) -> list[Object]:
    from hyperkube_command.simulate.files import read_cluster

    found, refused = read_cluster(cluster_client(kubeconfig, data_dir))
    if refused:
        click.echo(f"warning: simulating without {', '.join(refused)}, which may not be read", err=True)
    return found


def _simulate(
    cluster: Sequence[Object], pods: Sequence[Object], options: dict[str, object], seed: int
) -> SimulationResult:
    from hyperkube_host.scheduler.simulation import simulate

    if not any(obj.get("kind") == "Node" for obj in cluster):
        raise UsageError("the cluster has no nodes: a snapshot needs them (kubectl get nodes,pods,... -A -o json)")
    return simulate(cluster, pods, options, seed=seed)


def _write(path: Path, outcomes: dict[str, SimulationResult]) -> None:
    from hyperkube_command.simulate.plot import page, svg

    try:
        path.write_text((page if path.suffix == ".html" else svg)(outcomes))
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from error
