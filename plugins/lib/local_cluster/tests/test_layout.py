"""A data folder belongs to one process at a time and to its owner only."""

import os
import stat

import pytest
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.machinery.errors import UsageError


def test_folders_are_readable_by_their_owner_only(tmp_path):
    layout = Layout(tmp_path / "data")

    layout.create()

    assert stat.S_IMODE(layout.pki.stat().st_mode) == 0o700


def test_a_second_holder_is_refused_with_the_firsts_pid(tmp_path):
    layout = Layout(tmp_path / "data")
    layout.create()

    with layout.locked(), pytest.raises(UsageError, match=f"in use by process {os.getpid()}"), layout.locked():
        pass


def test_the_holder_is_known_while_it_holds(tmp_path):
    layout = Layout(tmp_path / "data")
    layout.create()

    with layout.locked():
        held = layout.holder()

    assert held == os.getpid()
    assert layout.holder() is None


def test_what_addons_serve_is_told_by_name(tmp_path):
    layout = Layout(tmp_path)
    (tmp_path / "console.url").write_text("http://127.0.0.1:1/\n")

    assert layout.links() == {"console": "http://127.0.0.1:1/"}
