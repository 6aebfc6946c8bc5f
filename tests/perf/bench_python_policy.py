"""What a policy in Python adds to a write, and how soon one that does not end is cut.

Run by hand: ``.venv/bin/python tests/perf/bench_python_policy.py``. Pods are created at a steady rate, in turn on a server
with the example policy (a look-up of a ConfigMap for every pod) and on one without. Nothing here fails.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path

from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import CONFIG_MAPS, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import ApiError

RATE = 200.0
SECONDS = 20.0
THREADS = 4
BUDGET = 200
EXAMPLE = Path(__file__).parents[2] / "examples/listed_registries/src/listed_registries/__init__.py"
TRAPS = """
import re
from hyperkube_admission.python_policy import validates

@validates("configmaps", namespaces=["default"])
def trap(review):
    name = review.object["metadata"]["name"]
    while name.startswith("loop"):
        pass
    if name.startswith("regex"):
        re.match(r"(a+)+$", "a" * 64 + "b")
"""


def settings(*policies: Path) -> dict[str, object]:
    """Return the flags of a server with these policies."""
    table = {"policies": [str(path) for path in policies], "budget": BUDGET}
    config = policies[-1].with_suffix(".settings.json")
    config.write_text(json.dumps({"admission.PythonPolicy": table}))
    return {
        "enable-admission-plugins": ["PythonPolicy"],
        "disable-admission-plugins": ["ServiceAccount"],
        "plugin-config": str(config),
    }


def share(values: list[float], part: float) -> float:
    """Return a quantile in milliseconds."""
    return sorted(values)[int((len(values) - 1) * part)] * 1000


def load(clusters: list[ControlPlane], clock: SystemClock) -> list[list[float]]:
    """Create pods at `RATE` on each cluster, in turn; return how long each took, by cluster."""
    taken: list[list[float]] = [[] for _ in clusters]
    numbers = count()
    begun = clock.monotonic()

    def run() -> None:
        while True:
            number = next(numbers)
            due = begun + number / RATE / len(clusters)
            if due > begun + SECONDS:
                return
            clock.sleep(max(0.0, due - clock.monotonic()))
            which = number % len(clusters)
            image = "registry.example/app:1"
            pod = {"metadata": {"name": f"p{number}"}, "spec": {"containers": [{"name": "c", "image": image}]}}
            client = clusters[which].client
            start = clock.monotonic()
            client.create(PODS, pod, "default")
            taken[which].append(clock.monotonic() - start)

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def main() -> None:
    """Measure and print."""
    clock = SystemClock()
    sys.setswitchinterval(0.0005)
    with tempfile.TemporaryDirectory() as folder:
        traps = Path(folder, "traps.py")
        traps.write_text(TRAPS)
        plain = ControlPlane(
            controller_manager=None, scheduler=None, apiserver={"disable-admission-plugins": ["ServiceAccount"]}
        )
        asked = ControlPlane(controller_manager=None, scheduler=None, apiserver=settings(EXAMPLE, traps))
        with plain, asked:
            listed = {"metadata": {"name": "registries"}, "data": {"registries": "registry.example"}}
            asked.client.create(CONFIG_MAPS, listed, "kube-system")
            without, with_policy = load([plain, asked], clock)
            print(
                f"{len(with_policy) / SECONDS:.0f} pods/s on each of two servers for {SECONDS:g} s, {THREADS} threads"
            )
            for part in (0.5, 0.9, 0.99):
                a, b = share(without, part), share(with_policy, part)
                print(f"p{part * 100:g}: {a:.2f} ms without, {b:.2f} ms with the policy: {b - a:+.2f} ms")
            for trap in ("loop", "regex"):
                print(
                    f"{trap}: cut after {', '.join(cut(asked, clock, trap, turn) for turn in range(5))} ms (budget {BUDGET})"
                )


def cut(cluster: ControlPlane, clock: SystemClock, trap: str, turn: int) -> str:
    """Return how long a trap held up a write, in milliseconds."""
    start = clock.monotonic()
    try:
        cluster.client.create(CONFIG_MAPS, {"metadata": {"name": f"{trap}-{turn}"}}, "default")
    except ApiError as error:
        took = f"{(clock.monotonic() - start) * 1000:.0f}"
        return took if "was cut" in error.message else error.message
    return "never"


if __name__ == "__main__":
    main()
