"""What ``hyperkube addons`` refuses, and that it runs what it is told."""

import pytest
from click.testing import CliRunner
from hyperkube_command import addons

from hyperkube.machinery.errors import UsageError


def run(*words):
    return CliRunner().invoke(addons.command, words)


def test_without_names_it_tells_what_is_installed():
    found = run()

    assert isinstance(found.exception, UsageError)
    assert "name the addons to run (installed: " in str(found.exception)


@pytest.mark.parametrize("text", ["[addon.nobody]\n", "addon = 1\n"], ids=["unknown", "no-table"])
def test_settings_are_checked_before_anything_is_touched(tmp_path, text):
    file = tmp_path / "settings.toml"
    file.write_text(text)

    assert isinstance(run("dns", "--plugin-config", str(file)).exception, UsageError)


def test_addons_run_with_their_settings_until_the_signal(monkeypatch, tmp_path):
    seen = []

    class Stopped:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def wait(self):
            seen.append("waits")

    class Manager:
        def __init__(self, names, client, clock, settings):
            seen.append((names, client, settings("dns")))

        def start(self):
            seen.append("starts")

        def close(self):
            seen.append("ends")

    monkeypatch.setattr(addons, "stop_signal", Stopped)
    monkeypatch.setattr(addons, "AddonManager", Manager)
    monkeypatch.setattr(addons, "cluster_client", lambda *_: "the client")
    monkeypatch.setattr(addons, "read_plugin_config", lambda _path: {("addon", "dns"): {"ttl": 5}})
    monkeypatch.setattr(addons, "set_up_logging", lambda _level: None)
    file = tmp_path / "settings.toml"
    file.touch()

    found = run("dns", "--plugin-config", str(file))

    assert found.exit_code == 0, found.output
    assert seen == [(("dns",), "the client", {"ttl": 5}), "starts", "waits", "ends"]
