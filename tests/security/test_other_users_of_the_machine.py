"""What other users of the machine may write to is not followed, and what is ours they cannot read."""

import os
import stat

import pytest
from hyperkube_lib.loopback_slices import FIRST, hold_slice
from hyperkube_storage.sqlite import SqliteStore


@pytest.mark.parametrize("trap", ["link to a file", "link to nothing", "folder", "pipe"])
def test_a_trap_among_the_slices_is_passed_over(tmp_path, trap):
    folder, mine = tmp_path / "slices", tmp_path / "mine"
    folder.mkdir()
    place = folder / str(FIRST)
    if trap == "link to a file":
        mine.write_text("precious")
        place.symlink_to(mine)
    elif trap == "link to nothing":
        place.symlink_to(mine)
    elif trap == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)

    held = hold_slice(folder)

    try:
        assert held.number == (FIRST if trap == "pipe" else FIRST + 1)
        assert mine.read_text() == "precious" if trap == "link to a file" else not mine.exists()
    finally:
        held.release()


def test_a_store_is_its_owners_alone(tmp_path):
    path = tmp_path / "data" / "storage.db"
    before = os.umask(0)
    try:
        store = SqliteStore(path)
        files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        store.close()
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert files.pop("storage.db.lock") == 0o600
    assert set(files.values()) == {0o600}
