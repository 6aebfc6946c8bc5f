"""The how-to about servers as processes, run as it stands there: a cluster whose pods and Services answer."""

from __future__ import annotations

import re

import pytest
from own_network import AS_USER, ROOT, missing, run_script
from page_scripts import PRELUDE

PAGE = ROOT / "docs" / "how-to" / "run-the-servers-as-processes.md"
OWN_RANGE = "127.250.0.0/24"


def commands_of(title):
    """Return the commands of a section."""
    section = re.search(rf"^## {title}\n(.*?)^## ", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
    return "".join(re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))


def by_hand():
    return commands_of("By hand, with etcd")


@pytest.fixture
def run_page(scratch, request):
    """Run the page's commands in a network of their own; return what they printed."""
    if missing():
        pytest.skip(missing())
    folder = scratch / request.node.name.replace("[", "-").strip("]")
    folder.mkdir()

    def run(commands, *, user=""):
        return run_script(folder, commands.replace("/tmp/demo", str(folder)), user=user)

    return run


def assert_hello(text):
    assert re.search(r"hello from hello-\S+ at 127\.", text), text[-6000:]
    assert 'GET / HTTP/1.1" 200' in text, text[-6000:]
    assert "GREETING=hello from" in text, text[-6000:]


@pytest.mark.parametrize("user", ["", AS_USER], ids=["root", "user"])
def test_the_page_gives_a_cluster_that_answers(run_page, user):
    assert_hello(run_page(by_hand(), user=user))


def test_the_short_way_gives_one_too(run_page):
    (command,) = commands_of("The short way").splitlines()
    first = by_hand().index("kubectl apply -f examples/hello.yaml")

    text = run_page(
        f'{PRELUDE}serve "{command}"\ncd "${{KUBECONFIG%/*}}/logs"; ls -C; cd -\n{by_hand()[first:]}leave\n'
    )

    assert re.search(r"apiserver\.log +controller-manager\.log +kubelet\.log +proxy\.log +scheduler\.log", text), text
    assert_hello(text)


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
