"""Pages of libraries that are let go."""

import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hyperkube_lib.component_base.library_pages import LibraryPages, Part, holds_own_pages, read_only_parts

MAPS = """\
1000-2000 r--p 00000000 08:01 11    /usr/bin/python3
2000-5000 r-xp 00001000 08:01 11    /usr/bin/python3
5000-6000 r--p 00004000 08:01 11    /usr/bin/python3
6000-7000 rw-p 00005000 08:01 11    /usr/bin/python3
7000-8000 rw-p 00000000 00:00 0     [heap]
8000-9000 r--p 00000000 08:01 12    /etc/ld.so.cache
9000-a000 r-xs 00000000 08:01 13    /opt/a shared one.so
a000-b000 r-xp 00000000 08:01 14    /opt/a name with spaces.so
b000-c000 r-xp 00000000 00:00 0     [vdso]
c000-d000 rw-p 00000000 00:00 0
"""

ABSENT, CLEAN, OWN, SWAPPED = 0, 0xA1 << 56, 0x81 << 56, 0x40 << 56


def entries(*pages):
    return b"".join(page.to_bytes(8, sys.byteorder) for page in pages)


def test_what_may_not_be_written_of_the_program_and_its_libraries_is_looked_at():
    assert read_only_parts(MAPS) == {
        Part(0x1000, 0x2000, "/usr/bin/python3"),
        Part(0x2000, 0x5000, "/usr/bin/python3"),
        Part(0x5000, 0x6000, "/usr/bin/python3"),
        Part(0xA000, 0xB000, "/opt/a name with spaces.so"),
    }


@pytest.mark.parametrize(
    ("pages", "own"),
    [((), False), ((ABSENT, CLEAN), False), ((CLEAN, OWN), True), ((SWAPPED, CLEAN), True)],
    ids=["nothing", "as in the file", "relocated", "relocated and swapped"],
)
def test_pages_of_the_process_s_own_are_told(pages, own):
    assert holds_own_pages(entries(*pages)) is own


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_let_go_is_no_longer_resident_and_comes_back_when_it_is_used():
    library = sys.modules["_decimal"].__file__
    pages = LibraryPages()
    assert Decimal(2).sqrt() > 1

    before = resident(library)
    pages.let_go()
    looked = resident(library)
    pages.let_go()
    after = resident(library)

    assert before == looked > after
    assert round(Decimal(2).sqrt(), 3) == Decimal("1.414")
    assert resident(library) > after


def test_where_nothing_tells_what_is_mapped_nothing_happens(monkeypatch, tmp_path):
    monkeypatch.setattr("hyperkube_lib.component_base.library_pages._MAPS", tmp_path / "none")

    LibraryPages().let_go()


def resident(library):
    """Return how many KiB of a library are mapped, as this process has them."""
    found, of_library = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if "-" in words[0]:
            of_library = words[-1] == library
        elif of_library and words[0] == "Rss:":
            found += int(words[1])
    return found
