"""Type-check the whole house in one mypy run: core and every plugin, each family as the namespace that users import."""

from __future__ import annotations

import os
import subprocess
import sys

from workspace import ROOT, distributions


def main() -> int:
    """Run mypy; return its exit code."""
    members = distributions()
    path = os.pathsep.join(str(member.source.relative_to(ROOT)) for member in members)
    command = [sys.executable, "-m", "mypy", "-p", "hyperkube"]
    for member in members:
        if member.family not in {"core", "bundle"}:
            # A namespace has parts in many folders, of which `-p` would check one: name each member's own module.
            is_package = (member.source / f"hyperkube_{member.family}" / member.snake).is_dir()
            command += ["-p" if is_package else "-m", f"hyperkube_{member.family}.{member.snake}"]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "MYPYPATH": path}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
