"""Plugins that are loaded anew: what is said, what is started anew, and what comes back when they fail."""

import sys
from importlib.metadata import EntryPoint

import pytest
from hyperkube_command.local_cluster import reload
from hyperkube_command.local_cluster.reload import Reloader
from hyperkube_command.local_cluster.restartable_part import RestartablePart
from hyperkube_command.local_cluster.watched_plugins import WatchedPlugin

MODULE = "acme_reloaded"
GOOD = "from hyperkube.plugin import Plugin\nclass It(Plugin):\n    text = '{}'\n"


class World:
    """One plugin in a folder, and an API server that knows the text of its class."""

    def __init__(self, folder, monkeypatch):
        self.file = folder / f"{MODULE}.py"
        self.said = []
        self.texts = []
        monkeypatch.syspath_prepend(str(folder))
        plugin = WatchedPlugin("admission", EntryPoint("It", f"{MODULE}:It", "hyperkube.admission"), folder)
        monkeypatch.setattr(reload, "plugins_in", lambda _folder: [plugin])
        self.part = RestartablePart(lambda _life: self.texts.append(plugin.entry.load().text))
        self.file.write_text(GOOD.format("old"))
        self.part.start()
        self.reloader = Reloader(folder, {"apiserver": self.part}, self.said.append)

    def write(self, text):
        self.file.write_text(text)
        self.reloader.changed([self.file])


@pytest.fixture
def world(tmp_path, monkeypatch):
    yield World(tmp_path.resolve(), monkeypatch)
    sys.modules.pop(MODULE, None)


def test_the_server_is_started_with_the_new_plugin(world):
    world.write(GOOD.format("new"))

    assert world.texts == ["old", "new"]
    assert world.said[0].startswith("reloaded It: apiserver started anew in ")


def test_the_same_length_within_a_second_is_new_all_the_same(world):
    for text in ("one", "two", "six"):
        world.write(GOOD.format(text))

    assert world.texts == ["old", "one", "two", "six"]


def test_a_plugin_that_cannot_be_imported_leaves_the_server_alone(world):
    world.write("x = 1\ny = x.nothing\n")

    assert world.texts == ["old"]
    (said,) = world.said
    assert said.startswith("not reloaded, the old one goes on: ")
    assert said.endswith(f"({world.file}:2)")
    assert sys.modules[MODULE].It.text == "old"


def test_a_server_that_does_not_start_is_started_with_the_old_plugin(world):
    world.write("class It: pass\n")

    assert world.texts == ["old", "old"]
    assert "AttributeError" in world.said[0]


def test_after_a_failure_the_next_change_is_taken_up(world):
    world.write("(")
    world.write(GOOD.format("new"))

    assert world.texts == ["old", "new"]
