"""One release, told everywhere."""

from hyperkube_host.apiserver.routes import paths
from hyperkube_host.kubelet.lifecycle import handlers
from hyperkube_host.kubelet.prober import prober_manager

from hyperkube.command.server_command import version_line
from hyperkube.machinery import release


def test_the_server_the_command_and_the_nodes_programs_name_the_same_release():
    assert release.GIT_VERSION.startswith(f"v{release.SHORT}.")
    assert paths.VERSION["gitVersion"] == release.GIT_VERSION
    assert version_line().startswith(f"Kubernetes {release.GIT_VERSION} ")
    assert {prober_manager.AGENT, handlers.AGENT} == {f"kube-probe/{release.SHORT}", f"kube-lifecycle/{release.SHORT}"}
