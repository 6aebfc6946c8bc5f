"""The how-to about servers as processes, run as it stands there: a cluster whose pods and Services answer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "run-the-servers-as-processes.md"
OWN_RANGE = "127.250.0.0/24"
SECONDS = 240
NOBODY = "65534"
AS_USER = (
    f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"
    " --inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search"
)
"""An ordinary user, who may read where Python is installed, be it in root's own folder."""
ENTER = """
ip link set lo up
exec {user} bash -e {script}
"""
"""The servers have the usual ports, so they get a network of their own; whatever happens, they end with the script."""


def by_hand():
    """Return the commands of the section "By hand, with etcd"."""
    section = re.search(r"^## By hand, with etcd\n(.*?)^## ", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
    return "".join(re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))


@pytest.fixture
def run_page(scratch, request):
    """Run the page's commands in a network of their own; return what they printed."""
    if os.geteuid() != 0 or any(shutil.which(name) is None for name in ("unshare", "ip", "setpriv", "etcd")):
        pytest.skip("needs root for a network of its own, and the programs unshare, ip, setpriv, etcd")
    folder = scratch / request.node.name.replace("[", "-").strip("]")
    folder.mkdir()

    def run(commands, *, user=""):
        script, enter = folder / "page.sh", folder / "enter.sh"
        script.write_text(commands.replace("/tmp/demo", str(folder)))
        enter.write_text(ENTER.format(user=user, script=script))
        if user:
            os.chown(folder, int(NOBODY), int(NOBODY))
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        words = ["unshare", "--net", "--pid", "--fork", "--kill-child", "bash", "-e", str(enter)]
        log = folder / "output.txt"
        with log.open("wb") as output:
            done = subprocess.run(
                words, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=SECONDS,
                env={**os.environ, "PATH": path, "HOME": str(folder)}, check=False,
            )  # fmt: skip
        text = log.read_text()
        assert done.returncode == 0, text[-6000:]
        return text

    return run


def assert_hello(text):
    assert re.search(r"hello from hello-\S+ at 127\.", text), text[-6000:]
    assert 'GET / HTTP/1.1" 200' in text, text[-6000:]
    assert "GREETING=hello from" in text, text[-6000:]


@pytest.mark.parametrize("user", ["", AS_USER], ids=["root", "user"])
def test_the_page_gives_a_cluster_that_answers(run_page, user):
    assert_hello(run_page(by_hand(), user=user))


def test_root_serves_cluster_ips_anywhere(run_page):
    commands = by_hand()
    assert OWN_RANGE in commands

    assert_hello(run_page(commands.replace(OWN_RANGE, "10.254.0.0/16")))


def test_another_user_is_told_why_such_a_cluster_ip_is_not_served(run_page):
    commands = by_hand().replace(OWN_RANGE, "10.254.0.0/16")
    before, curl, _ = re.split(r"^(curl .*)$", commands, maxsplit=1, flags=re.MULTILINE)
    assert curl
    wait = "until kubectl get events --field-selector=reason=FailedToServe | grep service/hello; do sleep 1; done\n"

    text = run_page(before + wait, user=AS_USER)

    assert "kube-proxy adds it when it runs as root" in text
