"""What the folders of the import path have, listed once."""

from __future__ import annotations

from hyperkube.plugin.import_path import ImportPath

FAMILY = "hyperkube_listed"


def test_each_file_comes_from_the_first_part_that_has_it(tmp_path):
    for folder, names in (("one", ("tidy.py",)), ("two", ("tidy.py", "wild.py", "wild.toml"))):
        for name in names:
            part = tmp_path / folder / FAMILY
            part.mkdir(parents=True, exist_ok=True)
            (part / name).touch()
    one, two = (str(tmp_path / folder) for folder in ("one", "two"))

    path = ImportPath([one, two])

    assert path.folders_with(FAMILY) == [one, two]
    assert path.part_with(FAMILY, "tidy") == f"{one}/{FAMILY}"
    assert path.part_with(FAMILY, "wild") == f"{two}/{FAMILY}"
    assert path.part_with(FAMILY, "nosuch") is None
    assert path.files_in(FAMILY)["wild.toml"] == f"{two}/{FAMILY}"


def test_a_module_that_is_one_file_counts_as_well(tmp_path):
    (tmp_path / f"{FAMILY}.py").touch()

    assert ImportPath([str(tmp_path / "none"), str(tmp_path)]).folders_with(FAMILY) == [str(tmp_path)]
