"""Install each distribution alone with core, and run its own tests there: nothing may lean on a neighbour.

Those that are named are tried; else, without ``--all``, those that the last commits or the working tree touched (at most
ten).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from workspace import ROOT, Distribution, distributions

UV = str(Path(sys.executable).with_name("uv"))
TOOLS = ["pytest", "pytest-timeout", "hypothesis", "httpx"]


def touched(members: list[Distribution]) -> list[Distribution]:
    """Return the members with changes since the commit before the last twenty, newest tree included."""
    base = subprocess.run(
        ["git", "rev-list", "--max-count=1", "--skip=20", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    diff = ["git", "diff", "--name-only", base] if base else ["git", "ls-files"]
    names = subprocess.run(diff, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    folders = [str(member.folder.relative_to(ROOT)) + "/" for member in members]
    return [member for member, folder in zip(members, folders, strict=True) if any(n.startswith(folder) for n in names)]


def requirements(member: Distribution, members: list[Distribution]) -> list[Distribution]:
    """Return the workspace members that `member` depends on, transitively."""
    by_name = {other.name: other for other in members}
    found: dict[str, Distribution] = {}
    pending = [member]
    while pending:
        for requirement in pending.pop().project.get("dependencies", []):  # type: ignore[attr-defined]
            name = str(requirement).split("=")[0].split(">")[0].split("[")[0].strip()
            if name in by_name and name not in found:
                found[name] = by_name[name]
                pending.append(by_name[name])
    return list(found.values())


def try_alone(member: Distribution, members: list[Distribution]) -> bool:
    """Install one distribution into a fresh environment and run its tests; print what failed."""
    with tempfile.TemporaryDirectory() as folder:
        python = f"{folder}/venv/bin/python"
        needed = [str(other.folder) for other in requirements(member, members)]
        commands = [
            [UV, "venv", "--quiet", "--python", sys.executable, f"{folder}/venv"],
            [UV, "pip", "install", "--quiet", "--python", python, "--constraint", f"{folder}/constraints.txt",
             *needed, str(member.folder), *TOOLS],
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), str(member.folder / "tests")],
        ]  # fmt: skip
        Path(folder, "constraints.txt").write_text("\n".join(_constraints()))
        for command in commands:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{member.name}: {' '.join(command[:4])} … failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
                return False
    print(f"{member.name}: ok")
    return True


def _constraints() -> list[str]:
    import tomllib

    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    return list(tool["uv"]["constraint-dependencies"])


def main() -> int:
    """Try the chosen distributions; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="distributions, e.g. hyperkube-core")
    parser.add_argument("--all", action="store_true", help="every distribution, not only the touched ones")
    parser.add_argument("--at-most", type=int, default=10, help="without --all: how many to try")
    arguments = parser.parse_args()
    members = distributions()
    unknown = set(arguments.names) - {member.name for member in members}
    if unknown:
        parser.error(f"no distributions: {', '.join(sorted(unknown))}")
    plugins = [member for member in members if member.family not in {"core", "bundle"}]
    if arguments.names:
        chosen = [member for member in members if member.name in arguments.names]
    else:
        chosen = plugins if arguments.all else touched(plugins)[: arguments.at_most]
    failed = [member.name for member in chosen if not try_alone(member, members)]
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
