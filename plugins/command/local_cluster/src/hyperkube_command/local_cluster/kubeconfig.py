"""hyperkube kubeconfig: print the administrator's kubeconfig, or merge it into ~/.kube/config."""

from __future__ import annotations

import os
from pathlib import Path

import click
from hyperkube_lib.local_cluster.layout import Layout, default_data_dir

from hyperkube.machinery.errors import UsageError

CONTEXT = "hyperkube"


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=default_data_dir,
    show_default="XDG data folder",
    help="the cluster's data folder",
)
@click.option("--merge", is_flag=True, help="add the cluster to ~/.kube/config (or $KUBECONFIG) and select it")
def command(data_dir: Path, merge: bool) -> None:  # fmt: skip
    """Print the administrator's kubeconfig, or merge it into the user's own."""
    layout = Layout(data_dir.absolute())
    if not layout.admin_kubeconfig.exists():
        raise UsageError(f"no cluster was ever started in {str(layout.root)!r}")
    if merge:
        click.echo(f"merged into {merge_into_default(layout)} as context {CONTEXT!r}")
    else:
        click.echo(layout.admin_kubeconfig.read_text(), nl=False)


def merge_into_default(layout: Layout) -> Path:
    """Put the cluster, its administrator and a context into the user's kubeconfig and select it; return the file."""
    from hyperkube.client import kubeconfig

    target = kubeconfig.default_paths(os.environ)[0]
    if target == layout.admin_kubeconfig:
        target = Path.home() / ".kube" / "config"
    merged = kubeconfig.read(target) if target.exists() else kubeconfig.empty()
    access = kubeconfig.resolve(kubeconfig.read(layout.admin_kubeconfig))
    merged = kubeconfig.put(merged, "clusters", CONTEXT, access.cluster)
    merged = kubeconfig.put(merged, "users", f"{CONTEXT}-admin", access.user)
    merged = kubeconfig.put(merged, "contexts", CONTEXT, {"cluster": CONTEXT, "user": f"{CONTEXT}-admin"})
    kubeconfig.write(target, {**merged, "current-context": CONTEXT})
    return target
