"""What the plugin needs of its node, and says in one line when it is not there."""

import os
import subprocess
import sys
from shutil import which

import pytest
from hyperkube_proxier.nftables import Nftables

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

ON_THE_KERNEL = """
from hyperkube_proxier.nftables.programs import NftProgram, TransactionFailed
nft = NftProgram("IPv4")
assert (nft.is_there(), nft.chains(), nft.sets()) == (False, set(), {})
nft.run('''
add table ip kube-proxy
add chain ip kube-proxy services
add set ip kube-proxy affinity-a/b { type ipv4_addr ; flags dynamic,timeout ; timeout 10800s ; }
add set ip kube-proxy cluster-ips { type ipv4_addr ; }
add rule ip kube-proxy services ip saddr { 192.0.2.1, 192.0.2.2 } drop
add table ip other
add chain ip other stranger
''')
assert (nft.is_there(), nft.chains()) == (True, {"services"})
assert nft.sets() == {"affinity-a/b": 10800, "cluster-ips": 0}
assert not NftProgram("IPv6").is_there()
try:
    nft.run("add chain ip kube-proxy new\\nadd rule ip kube-proxy services jump missing\\n")
except TransactionFailed:
    assert nft.chains() == {"services"}
else:
    raise AssertionError("a broken transaction was made")
"""


@pytest.fixture
def node(monkeypatch):
    """A node where root runs the plugin, and `nft` is."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("hyperkube_proxier.nftables.which", lambda name: f"/usr/sbin/{name}")
    monkeypatch.setattr("hyperkube_proxier.nftables.NftProgram.is_there", lambda _self: False)
    return monkeypatch


def build():
    return Nftables(PluginContext(name="nftables")).proxier_build()


def test_it_serves_the_families_of_the_node(node):
    assert build().families[0] == "IPv4"


def refuse(_self):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hyperkube_proxier.nftables.which", lambda _name: None, "needs the program nft"),
        ("os.geteuid", lambda: 1000, "needs root"),
        ("hyperkube_proxier.nftables.NftProgram.is_there", refuse, "in the kernel: Operation not permitted"),
    ],
    ids=["no program", "not root", "no right"],
)
def test_what_is_missing_is_told(node, name, value, message):
    node.setattr(name, value)

    with pytest.raises(UsageError, match=message):
        build()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces")
@pytest.mark.skipif(which("nft") is None or which("unshare") is None, reason="not installed: nft or unshare")
def test_what_nft_wrote_is_read_over_netlink():
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", ON_THE_KERNEL],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 0, done.stderr
