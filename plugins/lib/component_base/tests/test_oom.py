"""The score by which the kernel chooses whom it ends: set where it may be, and never a reason not to start."""

from __future__ import annotations

import pytest
from hyperkube_lib.component_base.oom import set_oom_score

from hyperkube.machinery.errors import UsageError


def test_the_score_is_written(tmp_path):
    set_oom_score(-999, tmp_path / "score")

    assert (tmp_path / "score").read_text() == "-999"


def test_a_machine_that_does_not_allow_it_is_no_reason_to_end(tmp_path, caplog):
    caplog.set_level("INFO")

    set_oom_score(-999, tmp_path / "absent" / "score")

    assert "cannot set --oom-score-adj=-999: No such file or directory" in caplog.text


@pytest.mark.parametrize("score", [-1001, 1001])
def test_there_is_no_such_score(tmp_path, score):
    with pytest.raises(UsageError, match="must be between -1000 and 1000"):
        set_oom_score(score, tmp_path / "score")

    assert not (tmp_path / "score").exists()
