"""The cni network keeps the promises of networks, with a program of the test that hands out addresses."""

from pathlib import Path

import pytest
from hyperkube_network.cni import Cni
from hyperkube_testing.node_contracts.network import NetworkContract

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.network import PodNetworkRequest

PROGRAM = """#!/bin/sh
read -r line
mkdir -p "$0.d"
case $CNI_COMMAND in
VERSION) echo '{"supportedVersions": ["0.2.0", "1.0.0"]}' ;;
DEL) for file in "$0.d"/*; do test "$(cat "$file" 2>/dev/null)" = "$CNI_CONTAINERID" && rm "$file"; done; exit 0 ;;
ADD)
    test "$CNI_IFNAME" = lo && { echo '{}'; exit 0; }
    n=2
    while test -e "$0.d/$n"; do n=$((n + 1)); done
    echo "$CNI_CONTAINERID" > "$0.d/$n"
    echo "{\\"cniVersion\\": \\"1.0.0\\", \\"ips\\": [{\\"address\\": \\"10.1.0.$n/24\\"}]}" ;;
esac
"""


def install(folder: Path, *, configured: bool = True) -> Cni:
    programs, configurations = folder / "bin", folder / "net.d"
    for each in (programs, configurations):
        each.mkdir(exist_ok=True)
    for name in ("numbers", "loopback"):
        path = programs / name
        if not path.exists():
            path.write_text(PROGRAM)
            path.chmod(0o755)
    if configured:
        (configurations / "10-test.conf").write_text('{"name": "t", "cniVersion": "1.0.0", "type": "numbers"}')
    settings = {
        "cni_bin_dir": (str(programs),),
        "cni_conf_dir": str(configurations),
        "cni_cache_dir": str(folder / "cache"),
    }
    return Cni(PluginContext(name="cni", settings=settings))


class TestCni(NetworkContract):
    def build(self, state):
        return install(state).network_build()

    @staticmethod
    def pod(number):
        return PodNetworkRequest("ns", f"p{number}", f"uid-{number}", f"sandbox-{number}", "/proc/self/ns/net")


def test_a_configuration_may_come_later(tmp_path):
    network = install(tmp_path, configured=False).network_build()

    assert network.status().endswith("network plugin is not ready: cni config uninitialized")
    install(tmp_path)
    assert network.status() == ""


@pytest.mark.parametrize("missing", ["needs_namespaces", "forwards_host_ports"])
def test_it_says_what_it_is(tmp_path, missing):
    assert getattr(install(tmp_path).network_build(), missing)
