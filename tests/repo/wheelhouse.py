"""Build every distribution of the tree as a wheel into one folder, the same bytes each time, with their hashes.

``pip install --find-links FOLDER hyperkube`` then installs the whole product, with libraries from the usual index. Where
there is none, the libraries lie in the folder too (``--with-libraries``), as wheels for this machine and this Python.
What a wheel holds depends on its sources alone: the time in it is that of the last commit, and no build tool is asked
that was not pinned. ``SHA256SUMS`` is what ``sha256sum --check`` reads.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from workspace import ROOT

SUMS = "SHA256SUMS"
WHOLE = "hyperkube[etcd,clouds,console]"
EARLIEST = 315532800
"""The first of January 1980: a wheel is a zip archive, which knows no time before."""


def epoch() -> str:
    """Return the time that the wheels bear: that of the last commit, where there is one."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return given or done.stdout.strip() or str(EARLIEST)


def _fixed_time() -> dict[str, str]:
    return {**os.environ, "SOURCE_DATE_EPOCH": epoch()}


def build(folder: Path) -> dict[str, str]:
    """Build all wheels into an empty folder; return the hash of each by file name."""
    shutil.rmtree(folder, ignore_errors=True)
    uv = Path(sys.executable).with_name("uv")
    words = [uv, "build", "--all-packages", "--wheel", "--quiet", "--out-dir", folder]
    subprocess.run(words, cwd=ROOT, env=_fixed_time(), check=True)
    return write_sums(folder)


def add_libraries(folder: Path, wanted: str = WHOLE) -> dict[str, str]:
    """Put what a requirement needs from elsewhere beside the wheels, as pip finds it; return the hashes of all wheels.

    What an index has as a source alone is built.
    """
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    subprocess.run([*words, "--find-links", folder, "--wheel-dir", folder, wanted], env=_fixed_time(), check=True)
    return write_sums(folder)


def write_sums(folder: Path) -> dict[str, str]:
    """Write down the hash of each wheel of a folder, and return it by file name."""
    wheels = sorted(folder.glob("*.whl"))
    sums = {wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}
    (folder / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return sums


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist", help="where to (default: dist)")
    parser.add_argument(
        "--with-libraries", action="store_true", help="the libraries too, for machines without an index"
    )
    options = parser.parse_args()
    place = options.folder.absolute()
    if place.exists() and not (place / SUMS).exists() and any(place.iterdir()):
        sys.exit(f"error: {str(place)!r} is not empty, and no earlier build made it")
    built = build(place)
    if options.with_libraries:
        built = add_libraries(place)
    size = sum((place / name).stat().st_size for name in built)
    print(f"{len(built)} wheels, {size / 1e6:.1f} MB, in {place}")
    print(f"pip install {'--no-index ' if options.with_libraries else ''}--find-links {place} hyperkube")
