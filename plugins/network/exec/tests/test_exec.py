"""The exec network, with a program of the test."""

import pytest
from hyperkube_network.exec import Exec
from hyperkube_testing.node_contracts.network import NetworkContract

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.network import NetworkFailed, PodNetworkRequest
from hyperkube.machinery.errors import UsageError

PROGRAM = """#!/bin/sh
folder=$(dirname "$0")/pods
mkdir -p "$folder"
echo "$*${POD_NETNS:+ in $POD_NETNS}" >> "$(dirname "$0")/calls"
case $1 in
setup)
    test -e "$(dirname "$0")/broken" && { echo "no bridge"; exit 1; }
    for n in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
        test "$(cat "$folder/$n" 2>/dev/null)" = "$4" && exit 0
        test -e "$folder/$n" || { echo "$4" > "$folder/$n"; exit 0; }
    done ;;
teardown) for file in "$folder"/*; do test "$(cat "$file" 2>/dev/null)" = "$4" && rm "$file"; done ;;
status) for file in "$folder"/*; do
        test "$(cat "$file" 2>/dev/null)" = "$4" &&
            echo "{\\"kind\\": \\"PodNetworkStatus\\", \\"ip\\": \\"10.1.0.$(basename "$file")\\"}"
    done ;;
esac
exit 0
"""


def build(folder, *names, **settings):
    for name in names or ("acme~net",):
        place = folder / name
        place.mkdir(exist_ok=True)
        program = place / name.rpartition("~")[2]
        if not program.exists():
            program.write_text(PROGRAM)
            program.chmod(0o755)
    settings = {"network_plugin_dir": str(folder), **settings}
    return Exec(PluginContext(name="exec", settings=settings)).network_build()


def calls(folder):
    return (folder / "acme~net" / "calls").read_text().splitlines()


class TestExec(NetworkContract):
    def build(self, state):
        return build(state)


def test_the_protocol_of_1_x_is_spoken(tmp_path):
    network = build(tmp_path)
    pod = PodNetworkRequest("ns", "p", "u", "s1", "/run/netns/x")

    assert network.setup(pod).ips == ("10.1.0.2",)
    network.teardown(pod)

    inside = " in /run/netns/x"
    assert calls(tmp_path) == [
        "init", f"setup ns p s1{inside}", f"status ns p s1{inside}", f"teardown ns p s1{inside}",
    ]  # fmt: skip


def test_what_fails_is_torn_down(tmp_path):
    network = build(tmp_path)
    (tmp_path / "acme~net" / "broken").touch()

    with pytest.raises(NetworkFailed, match=r"^networkPlugin exec failed to set up pod: setup: no bridge$"):
        network.setup(PodNetworkRequest("ns", "p", "u", "s1"))
    assert calls(tmp_path)[1:] == ["setup ns p s1", "teardown ns p s1"]


def test_one_of_several_has_to_be_named(tmp_path):
    with pytest.raises(UsageError, match=r"is needed: .* has not one program \(found: acme/net, other/thing\)"):
        build(tmp_path, "acme~net", "other~thing")
    with pytest.raises(UsageError, match=r"network plugin 'no/such' not found in .* \(found: acme/net, other/thing\)"):
        build(tmp_path, exec_network_plugin="no/such")
    assert build(tmp_path, exec_network_plugin="other/thing").status() == ""


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UsageError, match=r"has not one program \(found: none\)"):
        Exec(PluginContext(name="exec", settings={"network_plugin_dir": str(tmp_path / "no")})).network_build()
