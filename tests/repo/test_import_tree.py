"""The workspace is one folder of the import path: links to its modules, files of data and packages."""

from __future__ import annotations

import pytest
from import_tree import PATH_FILE, TwoModules, links, put_on_path, write
from workspace import ROOT, distributions


@pytest.fixture
def sources(tmp_path):
    """Return the sources of two distributions of one family, and of a package with a name of its own."""
    files = (
        *("one/src/acme_box/red.py", "one/src/acme_box/red.flags.toml", "one/src/acme_box/__pycache__/red.cpython.pyc"),
        *("two/src/acme_box/blue/__init__.py", "two/src/acme_box/blue/deep.py", "three/src/acme/__init__.py"),
    )
    for file in files:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return [tmp_path / name / "src" for name in ("one", "two", "three")]


def test_a_link_leads_to_each_module_file_of_data_and_package(sources):
    one, two, three = sources

    assert {str(place): target for place, target in links(sources).items()} == {
        "acme_box/red.py": one / "acme_box/red.py",
        "acme_box/red.flags.toml": one / "acme_box/red.flags.toml",
        "acme_box/blue": two / "acme_box/blue",
        "acme": three / "acme",
    }


def test_two_files_of_one_name_are_told(sources):
    (sources[1] / "acme_box/red.py").touch()

    with pytest.raises(TwoModules, match=r"acme_box/red\.py is in .*one.* and in .*two"):
        links(sources)


def test_the_tree_follows_what_comes_and_goes(sources, tmp_path):
    tree = tmp_path / "tree"
    write(tree, links(sources))
    kept = (tree / "acme").lstat().st_mtime_ns
    (sources[0] / "acme_box/red.py").rename(sources[0] / "acme_box/rose.py")
    (tree / "acme_box/blue").unlink()

    write(tree, links(sources))

    assert sorted(str(each.relative_to(tree)) for each in tree.rglob("*") if each.is_symlink()) == [
        *("acme", "acme_box/blue", "acme_box/red.flags.toml", "acme_box/rose.py")
    ]
    assert (tree / "acme_box/blue/deep.py").exists()
    assert (tree / "acme").lstat().st_mtime_ns == kept


def test_folders_of_the_workspace_leave_the_path_and_others_stay(tmp_path):
    (tmp_path / "hyperkube_ours.pth").write_text(f"{ROOT}/core/src")
    (tmp_path / "hyperkube_theirs.pth").write_text("/elsewhere/src\n")

    put_on_path(tmp_path, tmp_path / "tree")

    assert {file.name: file.read_text() for file in tmp_path.glob("*.pth")} == {
        PATH_FILE: f"{tmp_path}/tree\n",
        "hyperkube_theirs.pth": "/elsewhere/src\n",
    }


def test_the_workspace_has_no_two_files_of_one_name():
    found = links(member.source for member in distributions())

    assert len(found) >= len(distributions())
