"""Write the exact pins of the bundle distribution, so that `pip install hyperkube` brings the whole house."""

from __future__ import annotations

import re
import sys

from workspace import ROOT, distributions

PATH = ROOT / "plugins/bundle/default/pyproject.toml"
EXTRAS = {"clouds": "hyperkube-cloud-", "console": "hyperkube-addon-console", "etcd": "hyperkube-storage-etcd"}
"""Extra of the bundle → how the names of its distributions begin. All of them are in the bundle today, too: the extras
are for requirements that shall hold when one of them leaves it."""


def render() -> str:
    """Return the bundle's project file with current pins."""
    members = [member for member in distributions() if member.family not in {"bundle", "testing"}]
    pins = [f"{member.name}=={member.project['version']}" for member in members]
    listed = "".join(f'  "{pin}",\n' for pin in pins)
    text = re.sub(r"\ndependencies = \[.*?\]\n", f"\ndependencies = [\n{listed}]\n", PATH.read_text(), flags=re.DOTALL)
    for extra, start in EXTRAS.items():
        names = ", ".join(f'"{pin}"' for pin in pins if pin.startswith(start))
        text = re.sub(rf"\n{extra} = \[.*?\]\n", f"\n{extra} = [{names}]\n", text)
    return text


if __name__ == "__main__":
    if "--write" in sys.argv:
        PATH.write_text(render())
    else:
        sys.stdout.write(render())
