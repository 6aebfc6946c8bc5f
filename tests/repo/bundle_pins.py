"""Write the exact pins of the bundle distribution, so that `pip install hyperkube` brings the whole house."""

from __future__ import annotations

import re
import sys

from workspace import ROOT, distributions

PATH = ROOT / "plugins/bundle/default/pyproject.toml"


def render() -> str:
    """Return the bundle's project file with current pins."""
    members = [member for member in distributions() if member.family not in {"bundle", "testing"}]
    pins = "".join(f'  "{member.name}=={member.project["version"]}",\n' for member in members)
    return re.sub(r"dependencies = \[.*?\]\n", f"dependencies = [\n{pins}]\n", PATH.read_text(), flags=re.DOTALL)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PATH.write_text(render())
    else:
        sys.stdout.write(render())
