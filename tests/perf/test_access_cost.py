"""Who asks, whether they may, and the default admission chain: what that adds to a write and to a hot read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_identity_permission_and_admission_stay_within_their_aims():
    script = Path(__file__).with_name("bench_access.py")

    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    print(f"\n{done.stdout}")
    assert done.returncode == 0, done.stdout + done.stderr
