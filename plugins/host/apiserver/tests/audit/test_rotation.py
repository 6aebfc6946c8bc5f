import gzip

import pytest
from hyperkube_host.apiserver.audit.rotation import RotatedFile

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError

HALF = b"x" * (512 * 1024) + b"\n"


@pytest.fixture
def clock():
    return FakeClock()


def fill(file, clock, times):
    for _ in range(times):
        file.append(HALF)
        file.append(HALF)
        clock.advance(1)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_that_grew_too_long_is_put_aside(tmp_path, clock):
    file = RotatedFile(str(tmp_path / "logs" / "audit.log"), clock, megabytes=1)

    fill(file, clock, 1)
    file.close()

    assert names(tmp_path / "logs") == ["audit-2030-01-01T00-00-00.000.log", "audit.log"]
    assert (tmp_path / "logs" / "audit.log").read_bytes() == HALF
    assert (tmp_path / "logs" / "audit.log").stat().st_mode & 0o777 == 0o600


def test_only_so_many_old_files_are_kept(tmp_path, clock):
    file = RotatedFile(str(tmp_path / "audit.log"), clock, megabytes=1, backups=2)

    fill(file, clock, 5)
    file.close()

    assert len(names(tmp_path)) == 3


def test_old_files_are_kept_for_so_many_days(tmp_path, clock):
    file = RotatedFile(str(tmp_path / "audit.log"), clock, megabytes=1, days=1)

    fill(file, clock, 2)
    clock.advance(3 * 24 * 3600)
    fill(file, clock, 1)
    file.close()

    assert names(tmp_path) == [
        "audit-2030-01-04T00-00-02.000.log",
        "audit.log",
    ]


def test_old_files_may_be_packed(tmp_path, clock):
    file = RotatedFile(str(tmp_path / "audit.log"), clock, megabytes=1, compress=True)

    fill(file, clock, 1)
    file.close()

    assert gzip.decompress((tmp_path / "audit-2030-01-01T00-00-00.000.log.gz").read_bytes()) == HALF


def test_an_existing_file_is_continued(tmp_path, clock):
    (tmp_path / "audit.log").write_bytes(b"old\n")
    file = RotatedFile(str(tmp_path / "audit.log"), clock)

    file.append(b"new\n")
    file.close()

    assert (tmp_path / "audit.log").read_bytes() == b"old\nnew\n"


def test_standard_output_is_a_dash(capfdbinary, clock):
    file = RotatedFile("-", clock)

    file.append(b"line\n")
    file.close()

    assert capfdbinary.readouterr().out == b"line\n"


def test_a_file_that_cannot_be_opened_is_refused(tmp_path, clock):
    with pytest.raises(UsageError, match="cannot open"):
        RotatedFile(str(tmp_path), clock)
