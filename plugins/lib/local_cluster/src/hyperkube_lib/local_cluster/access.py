"""Which cluster a subcommand asks: the one that its flags name, else that of ``$KUBECONFIG``, else the local one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from hyperkube_lib.local_cluster.layout import Layout, default_data_dir

from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube.client.http import HttpClient

_PATH = click.Path(path_type=Path)


def cluster_options(function: Any) -> Any:
    """Add ``--kubeconfig`` and ``--data-dir`` to a click command: the arguments of `cluster_client`."""
    kubeconfig = click.option("--kubeconfig", type=_PATH, help="of the cluster; else $KUBECONFIG, else the local one's")
    data_dir = click.option("--data-dir", type=_PATH, help="the local cluster's, where it is not the usual one")
    return kubeconfig(data_dir(function))


def cluster_client(kubeconfig: Path | None, data_dir: Path | None) -> HttpClient:
    """Return a client for the cluster.

    Raises:
        UsageError: there is no such file, or its credentials cannot be used.
    """
    from hyperkube.client.kubeconfig import client_for, client_from_kubeconfig, default_paths, merge, read, resolve

    named = os.environ.get("KUBECONFIG", "")
    if kubeconfig is None and data_dir is None and named:
        paths = [path for path in default_paths(os.environ) if path.is_file()]
        if not paths:
            raise UsageError(f"no file of $KUBECONFIG exists: {named!r}")
        return client_for(resolve(merge([read(path) for path in paths])))
    folder = (data_dir or default_data_dir()).absolute()
    path = kubeconfig or Layout(folder).admin_kubeconfig
    if kubeconfig is None and not path.is_file():
        raise UsageError(f"no local cluster in {str(folder)!r}: give --kubeconfig or --data-dir, or set KUBECONFIG")
    return client_from_kubeconfig(path)
