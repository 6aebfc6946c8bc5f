"""How a server that is not the API server reaches it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube.client.client import Client
from hyperkube.machinery.errors import UsageError


def remote_client(options: Mapping[str, Any], user_agent: str, counts: Any = None, **more: Any) -> Client:
    """Return a client as ``--kubeconfig``, ``--master`` or ``--api-servers`` describe it; `more` goes to `HttpClient`.

    Raises:
        UsageError: none of them is given, or the file cannot be read.
    """
    from hyperkube.client.http import HttpClient
    from hyperkube.client.kubeconfig import client_from_kubeconfig

    server = options.get("master") or next(iter(options.get("api-servers", ())), "")
    if options["kubeconfig"]:
        if not Path(options["kubeconfig"]).is_file():
            raise UsageError(f"kubeconfig {options['kubeconfig']!r} does not exist")
        return client_from_kubeconfig(options["kubeconfig"], user_agent=user_agent, counts=counts, **more)
    if not server:
        raise UsageError("no API server: give --kubeconfig=FILE or --master=URL")
    url = server if "://" in server else f"http://{server}"
    return HttpClient(url, user_agent=user_agent, counts=counts, **more)
