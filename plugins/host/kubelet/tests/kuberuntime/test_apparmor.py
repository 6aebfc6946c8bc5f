"""Pods with AppArmor profiles on nodes with and without AppArmor."""

import pytest
from hyperkube_host.kubelet.kuberuntime.apparmor import AppArmorAdmission, apparmor_admission

DEFAULT = {"appArmorProfile": {"type": "RuntimeDefault"}}
BETA = {"container.apparmor.security.beta.kubernetes.io/c": "runtime/default"}


def pod(own=None, pods=None, annotations=None, phase="Pending"):
    return {
        "metadata": {"name": "p", "annotations": annotations or {}},
        "spec": {"securityContext": pods or {}, "containers": [{"name": "c", "securityContext": own or {}}]},
        "status": {"phase": phase},
    }


@pytest.fixture
def on_host(tmp_path):
    """Return a function of what the kernel says and a pod: why the pod is refused."""

    def refusal(says, given):
        file = tmp_path / "enabled"
        if says:
            file.write_text(says)
        found = AppArmorAdmission(file).admit(given)
        return None if found is None else (found.reason, found.message)

    return refusal


@pytest.mark.parametrize("says", [None, "N\n"])
@pytest.mark.parametrize("given", [pod(DEFAULT), pod(pods=DEFAULT), pod(annotations=BETA)], ids=["own", "pod", "beta"])
def test_a_node_without_apparmor_refuses_a_profile(on_host, says, given):
    assert on_host(says, given) == ("AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host")


@pytest.mark.parametrize(
    "given",
    [pod(), pod({"appArmorProfile": {"type": "Unconfined"}}), pod(DEFAULT, phase="Running")],
    ids=["none", "unconfined", "running"],
)
def test_a_pod_that_needs_no_apparmor_or_runs_already_is_taken(on_host, given):
    assert on_host(None, given) is None


def test_a_node_with_apparmor_takes_profiles_that_have_names(on_host):
    nameless = pod({"appArmorProfile": {"type": "Localhost", "localhostProfile": " "}})

    assert on_host("Y\n", pod(DEFAULT)) is None
    assert on_host("Y\n", nameless) == (
        "AppArmor",
        "Cannot enforce AppArmor: localhost AppArmor profile name cannot be empty",
    )


def test_a_runtime_that_says_itself_what_it_does_not_honour_runs_such_pods():
    class Says:
        def unhonoured(self, _pod):
            return ["spec.securityContext.appArmorProfile"]

    assert (len(apparmor_admission(object())), apparmor_admission(Says())) == (1, ())
