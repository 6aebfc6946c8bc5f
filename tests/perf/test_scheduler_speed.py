"""The scheduler through the API server, beside kube-scheduler's figures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

import bench_scheduler_kbench as bench


@pytest.mark.timeout(1200)
@pytest.mark.skipif(bool(bench.missing()), reason=f"needs {bench.missing()}")
def test_every_pod_is_bound_and_the_rates_are_told(capsys):
    bench.main()

    told = capsys.readouterr().out
    with capsys.disabled():
        print(f"\n{told}")
    assert [f"{nodes:5,} nodes: " in told for nodes in bench.KUBE] == [True] * len(bench.KUBE)
    assert "Deployment 0 to 1,000: " in told
    assert "lag p50" in told
