"""Simulation: where pods would go, by `hyperkube simulate` in a process of its own, as the user.

The command reads the cluster with the user's credentials from a kubeconfig that only this user of the machine can
read, and that is gone when it ends; nothing is written to the cluster.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flask
import orjson
from hyperkube_lib.console import here

from hyperkube.client import kubeconfig
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

SECONDS = 120
PROVIDERS = ("DefaultProvider", "ClusterAutoscalerProvider")
EXAMPLE = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx
        resources: {requests: {cpu: 500m, memory: 256Mi}}
"""


def register(app: flask.Flask) -> None:
    """Add the page."""
    app.add_url_rule("/simulate", "simulation", simulation, methods=["GET", "POST"])


def simulation() -> ResponseReturnValue:
    """Show the form, and what came of it."""
    form = flask.request.form
    text = form.get("pods", EXAMPLE)
    chosen = [name for name in form.getlist("provider") if name in PROVIDERS] or [PROVIDERS[0]]
    outcomes: list[Object] = []
    wrong = ""
    if flask.request.method == "POST":
        try:
            outcomes = [drawn(each) for each in run(here.session().acting.config(), text, chosen)]
        except UsageError as error:
            wrong = str(error)
    page = here.page("simulation.html", section="simulation", text=text, providers=PROVIDERS, chosen=chosen,
                     outcomes=outcomes, wrong=wrong)  # fmt: skip
    return page, 422 if wrong else 200


def run(config: Object, pods: str, providers: Sequence[str]) -> list[Object]:
    """Return the outcomes of the command.

    Raises:
        UsageError: it could not simulate; the text is its own.
    """
    with tempfile.TemporaryDirectory(prefix="hyperkube-console-simulate-") as folder:
        access = Path(folder, "kubeconfig")
        kubeconfig.write(access, config)
        line = [sys.executable, "-m", "hyperkube.command.main", "simulate", f"--kubeconfig={access}", "--output=json"]
        line += [f"--algorithm-provider={name}" for name in providers]
        if pods.strip():
            file = Path(folder, "pods.yaml")
            file.write_text(pods, encoding="utf-8")
            line.append(f"--pods={file}")
        try:
            done = subprocess.run(line, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"the simulation took longer than {SECONDS} s") from error
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(told[-1] if told else f"hyperkube simulate ended with {done.returncode}")
    found: list[Object] = orjson.loads(done.stdout)["simulations"]
    return found


def drawn(outcome: Object) -> dict[str, Any]:
    """Return an outcome with each node's bars in per mille of what it has: what stays, comes and goes; pure."""
    bars = []
    for node in outcome["nodes"]:
        row: dict[str, Any] = {"node": node["node"], "bars": []}
        for resource in ("cpu", "memory"):
            each = node[resource]
            most = each["allocatable"] or 1
            before, after = (min(1000, round(1000 * each[word] / most)) for word in ("before", "after"))
            row["bars"].append({"resource": resource, "stays": min(before, after), "comes": max(0, after - before),
                                "goes": max(0, before - after), "before": before, "after": after})  # fmt: skip
        bars.append(row)
    return {**outcome, "bars": bars}
