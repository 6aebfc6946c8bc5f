"""Whether a distribution's tests hold its plugin to the contract of its family, and what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson
from hyperkube_command.plugins.check import Level

CONTRACTS = {
    "addon": ("AddonContract",),
    "admission": ("AdmissionContract",),
    "api": ("ApiContract", "DescriptionsContract"),
    "authn": ("AuthnContract",),
    "authz": ("AuthzContract",),
    "cloud": ("CloudContract",),
    "controller": ("ControllerContract",),
    "csi": ("CsiDriverContract",),
    "network": ("NetworkContract",),
    "proxier": ("ProxierContract",),
    "runtime": ("RuntimeContract",),
    "scheduler": ("SchedulingContract", "ProviderContract"),
    "storage": ("StoreContract", "DurableStoreContract"),
    "volume": ("VolumeContract",),
}
"""Family → the classes of tests whose promises its plugins keep; one of them is enough."""


def source_folder(entry: EntryPoint) -> Path | None:
    """Return the folder that a distribution was installed from, if pip noted one and it is still there."""
    text = entry.dist.read_text("direct_url.json") if entry.dist is not None else None
    noted: dict[str, Any] = orjson.loads(text) if text else {}
    url = str(noted.get("url", ""))
    folder = Path(url.removeprefix("file://"))
    return folder if url.startswith("file://") and folder.is_dir() else None


def check_contract(family: str, entry: EntryPoint) -> Iterator[tuple[Level, str]]:
    """Look for the contract in the tests beside the sources, and run them."""
    wanted = CONTRACTS.get(family)
    folder = source_folder(entry)
    tests = folder and folder / "tests"
    if tests is None or not tests.is_dir():
        yield Level.NOTE, "its tests are not at hand: install it from its folder (pip install -e FOLDER) to run them"
        return
    texts = "".join(path.read_text(encoding="utf-8") for path in sorted(tests.rglob("*.py")))
    if wanted and not re.search(rf"^class \w+\(.*\b({'|'.join(wanted)})\b", texts, re.MULTILINE):
        yield Level.WRONG, f"no test class in {tests} derives from {' or '.join(wanted)}"
    if find_spec("pytest") is None:
        yield Level.NOTE, "its tests were not run: pytest is not installed"
        return
    words = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider", str(tests)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["pytest said nothing"]
    if done.returncode:
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        yield Level.WRONG, "; ".join([*failed[:3], lines[-1]])
    else:
        yield Level.FINE, lines[-1].strip("= ")
