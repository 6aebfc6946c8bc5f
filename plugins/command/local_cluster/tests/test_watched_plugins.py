"""Which plugins come from a folder, and what follows when its files change."""

from importlib.metadata import EntryPoint

import pytest
from hyperkube_command.local_cluster.watched_plugins import SERVERS, WatchedPlugin, consequence, plugins_in

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.loader import installed_families


def _plugin(folder, family, name):
    return WatchedPlugin(family, EntryPoint(name, f"{name}:It", f"hyperkube.{family}"), folder / name / "src")


def _follows(tmp_path, *changed):
    plugins = [_plugin(tmp_path, "admission", "checks"), _plugin(tmp_path, "volume", "tapes")]
    found = consequence([tmp_path / path for path in changed], tmp_path, plugins)
    return [plugin.entry.name for plugin in found.plugins], found.servers, found.remarks


def test_who_owns_the_changed_plugin_is_started_anew(tmp_path):
    assert _follows(tmp_path, "checks/src/checks/rules.py") == (["checks"], ("apiserver",), ())
    assert _follows(tmp_path, "tapes/src/tapes.py") == (["tapes"], ("controller-manager", "kubelet"), ())


def test_what_stands_beside_no_plugin_may_be_imported_by_all(tmp_path):
    names, servers, _ = _follows(tmp_path, "shared/words.py")

    assert names == ["checks", "tapes"]
    assert servers == ("apiserver", "controller-manager", "kubelet")


def test_roles_are_kept_by_the_api_server(tmp_path):
    assert _follows(tmp_path, "tapes/src/tapes/rbac.toml") == ([], ("apiserver",), ())


@pytest.mark.parametrize(
    "path", ["checks/tests/test_checks.py", "checks/src/checks/notes.md", ".git/x.py", "build/a.py"]
)
def test_other_files_change_nothing(tmp_path, path):
    assert _follows(tmp_path, path) == ([], (), ())


@pytest.mark.parametrize(
    ("path", "remark"),
    [("checks/src/checks/flags.toml", "flags are read at the start"), ("checks/pyproject.toml", "install it again")],
)
def test_what_is_read_at_the_start_is_said_not_to_be_reloaded(tmp_path, path, remark):
    _, servers, (said,) = _follows(tmp_path, path)

    assert servers == ()
    assert remark in said


def test_every_family_that_a_server_loads_is_known():
    programs = {"command", "server", "bundle", "cloud_controller"}

    assert installed_families() - SERVERS.keys() <= programs


def test_a_folder_without_an_installed_plugin_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no installed plugin of a server is imported from .*pip install -e"):
        plugins_in(tmp_path)


def test_an_installed_plugin_is_found_by_where_it_is_imported_from(tmp_path, monkeypatch):
    info = tmp_path / "acme_checks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-checks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hyperkube.admission]\nAcmeCheck = acme_checks:AcmeCheck\n")
    (tmp_path / "acme_checks.py").write_text("raise RuntimeError('it is not imported to be found')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    (found,) = plugins_in(tmp_path)

    assert (found.family, found.entry.name, found.place) == ("admission", "AcmeCheck", tmp_path.resolve())
