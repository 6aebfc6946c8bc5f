"""Plugins are found, chosen and wired; whatever is wrong with one is wrong at start."""

import sys
from dataclasses import dataclass
from importlib.metadata import PathDistribution

import pytest

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs import admission as specs
from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import (
    Plugin,
    PluginConflict,
    PluginContext,
    PluginHost,
    PluginLoadFailed,
    PluginNotFound,
    load,
    loader,
)
from hyperkube.plugin.loader import WrongHookApi, installed, one_look


class Recorder(Plugin):
    def __init__(self, name, calls):
        super().__init__(PluginContext(name=name))
        self.calls = calls

    @hookimpl
    def admission_validate(self, request):
        self.calls.append(self.context.name)

    def close(self):
        self.calls.append(f"close {self.context.name}")


class Misspelt(Plugin):
    @hookimpl
    def admission_validates(self, request):
        raise AssertionError


def host(calls, *names):
    return PluginHost("admission", specs, [(name, Recorder(name, calls)) for name in names])


def test_hooks_are_called_in_the_order_given():
    calls = []

    host(calls, "B", "A", "C").hook.admission_validate(request=None)

    assert calls == ["B", "A", "C"]


def test_plugins_close_in_reverse():
    calls = []

    host(calls, "A", "B").close()

    assert calls == ["close B", "close A"]


class Unmarked(Plugin):
    def admission_validate(self, request):
        raise AssertionError


class Greedy(Plugin):
    @hookimpl
    def admission_validate(self, request, store):
        raise AssertionError


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        (
            Misspelt,
            "Misspelt): no hook 'admission_validates' (hooks of this family: admission_mutate, admission_validate)",
        ),
        (Unmarked, "Unmarked): 'admission_validate' has the name of a hook but is not marked with @hookimpl"),
        (Greedy, "{'store'} are declared in the hookimpl but can not be found in the hookspec"),
    ],
    ids=["misspelt", "not marked", "asks for more"],
)
def test_a_hook_that_would_never_be_called_fails_at_start(plugin, text):
    with pytest.raises(PluginLoadFailed) as error:
        PluginHost("admission", specs, [("Wrong", plugin(PluginContext(name="Wrong")))])

    line = str(error.value)
    assert line.startswith(f"admission plugin 'Wrong' ({__name__}.{plugin.__name__}): ")
    assert text in line
    assert "\n" not in line


def test_a_missing_plugin_names_the_installed_ones():
    with pytest.raises(PluginNotFound) as error:
        load("no-such-family", ["Missing"], specs, lambda name: PluginContext(name=name))

    assert str(error.value) == (
        "no-such-family plugin 'Missing' is not installed (installed: none; they come with distributions"
        " 'hyperkube-no-such-family-NAME', all of them with 'hyperkube')"
    )


def test_a_name_given_twice_is_a_conflict():
    with pytest.raises(PluginConflict, match="named twice: A"):
        load("admission", ["A", "A"], specs, lambda name: PluginContext(name=name))


def offering(folder, distribution, name):
    """Put metadata in a folder: a distribution that offers an admission plugin."""
    info = folder / f"{distribution}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n\nName: not-this-one\n")
    (info / "entry_points.txt").write_text(f"[hyperkube.admission]\n{name} = {distribution}:{name}\n")


def test_two_distributions_of_one_name_are_a_conflict(monkeypatch, tmp_path):
    for distribution in ("one", "two"):
        offering(tmp_path, distribution, "A")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(PluginConflict, match="offered twice, by one and two"):
        load("admission", ["A"], specs, lambda name: PluginContext(name=name))


def test_settings_become_a_dataclass_and_unknown_keys_are_refused():
    plugin = Plugin(PluginContext(name="P", settings={"limit": 3}))
    wrong = Plugin(PluginContext(name="P", settings={"limits": 3}))

    assert plugin.settings(Limits).limit == 3
    with pytest.raises(UsageError, match="settings of plugin 'P'"):
        wrong.settings(Limits)


@dataclass(frozen=True)
class Limits:
    limit: int = 1


def test_a_plugin_that_needs_the_api_says_so_where_there_is_none():
    plugin = Plugin(PluginContext(name="P"))

    with pytest.raises(UsageError, match="needs API access"):
        _ = plugin.client


def test_what_is_installed_is_read_again_when_the_path_changes(monkeypatch, tmp_path):
    before = installed("no-such-family")
    info = tmp_path / "late-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[hyperkube.no-such-family]\nLate = late:Late\n")

    monkeypatch.syspath_prepend(str(tmp_path))

    assert before == {}
    assert list(installed("no-such-family")) == ["Late"]


def put_distribution(folder, name, entry_points):
    """Write what an installed wheel leaves of itself."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


@pytest.mark.parametrize(
    ("declared", "refused"),
    [
        ("", ""),
        ("[hyperkube.hook_api]\n1 = acme_a\n", ""),
        ("[hyperkube.hook_api]\n1 = acme_a\n2 = acme_a\n", ""),
        ("[hyperkube.hook_api]\n2 = acme_a\n", "hook API 2"),
        ("[hyperkube.hook_api]\n2 = acme_a\n3 = acme_a\n", "hook API 2 or 3"),
    ],
    ids=["says nothing", "this one", "this one and the next", "the next", "later ones"],
)
def test_a_plugin_that_was_written_for_other_hooks_is_refused(monkeypatch, tmp_path, declared, refused):
    put_distribution(tmp_path, "acme", f"[hyperkube.admission]\nAcme = acme_a:Acme\n{declared}")
    put_distribution(tmp_path, "other", "[hyperkube.hook_api]\n9 = other\n")
    source = "from hyperkube.plugin import Plugin\nclass Acme(Plugin): ...\n"
    (tmp_path / "acme_a.py").write_text(source if not refused else "raise AssertionError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_a", raising=False)

    if not refused:
        assert load("admission", ["Acme"], specs, lambda name: PluginContext(name=name)).names == ("Acme",)
        return
    with pytest.raises(WrongHookApi) as error:
        load("admission", ["Acme"], specs, lambda name: PluginContext(name=name))
    assert str(error.value) == (
        f"admission plugin 'Acme' of acme was written for {refused}, this hyperkube-core has hook API 1"
    )


def test_a_distribution_in_an_earlier_folder_hides_its_namesake(monkeypatch, tmp_path):
    for folder, plugin in (("later", "Old"), ("earlier", "New")):
        put_distribution(tmp_path / folder, "same", f"[hyperkube.no-such-family]\n{plugin} = m:C\n")
        monkeypatch.syspath_prepend(str(tmp_path / folder))

    assert list(installed("no-such-family")) == ["New"]


def test_within_one_look_the_path_is_read_once(monkeypatch):
    looks = []
    monkeypatch.setattr(loader, "_changed_at", lambda folder: looks.append(folder) or 0)

    with one_look():
        once = len(looks)
        installed("admission")
        installed("storage")
    inside = len(looks)
    installed("admission")

    assert (once, inside, len(looks)) == (len(sys.path), len(sys.path), 2 * len(sys.path))


def test_the_metadata_of_a_distribution_are_read_for_its_name_once(monkeypatch, tmp_path):
    reads = []
    read_text = PathDistribution.read_text
    monkeypatch.setattr(
        PathDistribution, "read_text", lambda self, filename: reads.append(filename) or read_text(self, filename)
    )
    offering(tmp_path, "acme", "A")
    monkeypatch.syspath_prepend(str(tmp_path))

    names = [loader.distribution_of(installed("admission")["A"]) for _ in range(3)]

    assert names == ["acme"] * 3
    assert reads.count("METADATA") == 1


def test_a_hook_of_the_instance_itself_is_called_for_that_instance_alone():
    calls = []
    special, plain = Recorder("special", calls), Recorder("plain", calls)

    @hookimpl
    def own(request):
        calls.append("own")

    special.admission_validate = own

    for plugins in ([("plain", plain), ("special", special)], [("plain", plain)]):
        PluginHost("admission", specs, plugins).hook.admission_validate(request=None)

    assert calls == ["plain", "own", "plain"]


def test_hosts_with_plugins_of_one_class_share_nothing():
    first, second = [], []
    one, other = host(first, "A"), host(second, "B", "C")

    other.hook.admission_validate(request=None)
    one.hook.admission_validate(request=None)

    assert (first, second) == (["A"], ["B", "C"])


class Watcher(Plugin):
    """Has a cache of its own from the beginning, and asks for another when it is told to."""

    def __init__(self, context):
        super().__init__(context)
        self.willing = True
        if self.context.name != "Blind":
            self.informers.informer(PODS if self.context.name == "Pods" else NODES)

    def ready(self):
        return self.willing


def loaded(monkeypatch, informers, *names):
    monkeypatch.setattr(loader, "installed", lambda _family: names)
    monkeypatch.setattr(loader, "_import", lambda _family, _names: dict.fromkeys(names, Watcher))
    return load("admission", names, specs, lambda name: PluginContext(name=name, informers=informers))


def test_a_host_is_ready_once_the_caches_that_its_plugins_asked_for_are_filled(monkeypatch):
    informers = InformerFactory(FakeClient())
    pods, nodes = (loaded(monkeypatch, informers, name) for name in ("Pods", "Nodes"))
    both, blind = loaded(monkeypatch, informers, "Pods", "Nodes"), loaded(monkeypatch, informers, "Blind")
    assert blind.ready()
    assert not pods.ready()

    informers.informer(PODS).refresh()

    assert [host.ready() for host in (pods, nodes, both)] == [True, False, False]
    informers.informer(NODES).refresh()
    assert both.ready()


def test_what_a_plugin_asks_for_later_does_not_hold_its_host_back(monkeypatch):
    informers = InformerFactory(FakeClient())
    host = loaded(monkeypatch, informers, "Blind")

    host.plugins[0].informers.informer(PODS)

    assert host.ready()


def test_a_plugin_may_have_other_reasons_not_to_be_ready(monkeypatch):
    host = loaded(monkeypatch, InformerFactory(FakeClient()), "Blind")

    host.plugins[0].willing = False

    assert not host.ready()
