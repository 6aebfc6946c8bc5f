"""The rig of this folder's tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import docker_rig


@pytest.fixture
def rig(tmp_path):
    """A runtime on a daemon in memory."""
    return docker_rig.build(tmp_path)
