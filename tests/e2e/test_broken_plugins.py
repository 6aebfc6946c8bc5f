"""Plugins of a third party that fail whenever they are called: the cluster goes on, and says whose fault it is."""

from __future__ import annotations

from local_cluster import LocalCluster, eventually

from hyperkube.machinery.clock import SystemClock

CLOCK = SystemClock()
ENTRY_POINTS = """
[hyperkube.admission]
BrokenCheck = acme_broken:BrokenCheck
[hyperkube.authn]
BrokenTokens = acme_broken:BrokenTokens
[hyperkube.authz]
BrokenRules = acme_broken:BrokenRules
[hyperkube.controller]
acme-ended = acme_broken:Ended
acme-failing = acme_broken:Failing
[hyperkube.proxier]
broken = acme_broken:BrokenProxier
"""
MODULE = """
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import NO_OPINION
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.plugin import Plugin


class BrokenCheck(Plugin):
    @hookimpl
    def admission_validate(self, request):
        if request.writes("secrets"):
            raise KeyError("spec")


class BrokenTokens(Plugin):
    @hookimpl
    def authn_authenticate(self, credentials):
        if credentials.token == "broken":
            raise KeyError("token")


class BrokenRules(Plugin):
    @hookimpl
    def authz_authorize(self, attributes):
        if attributes.user.name == "jane":
            raise KeyError("rule")
        return NO_OPINION


class Ended(Plugin):
    @hookimpl
    def controller_build(self):
        return self

    def run(self):
        raise KeyError("run")

    def stop(self):
        pass


class Failing(Plugin):
    @hookimpl
    def controller_build(self):
        namespaces = self.informers.informer(NAMESPACES)
        namespaces.add_handler(self.bad, lambda old, new: self.bad(new), self.bad)
        loop = ReconcileLoop(self.context.name, self.sync, clock=self.context.clock, logger=self.context.logger)
        loop.watch(namespaces)
        return loop

    def sync(self, key):
        raise KeyError(key)

    def bad(self, obj):
        raise KeyError("handler")


class BrokenProxier(Plugin):
    @hookimpl
    def proxier_build(self):
        return self

    def sync(self, services):
        raise KeyError("sync")

    def cleanup(self):
        pass
"""
MOST_LINES = 150
PER_SECOND = 10
"""What fails again and again is told again now and then: how many lines more a second that it takes may bring."""
BLAMED = (
    "controller plugin 'acme-ended' of acme-broken, in Ended.run",
    "controller plugin 'acme-failing' of acme-broken, in Failing.sync",
    "controller plugin 'acme-failing' of acme-broken, in Failing.bad",
    "proxier plugin 'broken' of acme-broken, in BrokenProxier.sync",
)


def test_the_cluster_goes_on_and_says_whose_fault_it_is(scratch, monkeypatch):
    site = scratch / "broken-site"
    info = site / "acme_broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "acme_broken.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(site))
    flags = (
        "--enable-admission-plugins=BrokenCheck", "--proxy-arg", "proxy-mode=broken",
        "--apiserver-arg", "authentication-plugins=BrokenTokens",
        "--apiserver-arg", "authorization-mode=BrokenRules",
    )  # fmt: skip

    began = CLOCK.monotonic()
    with LocalCluster(scratch / "broken", *flags).running() as cluster:
        refused = cluster.kubectl("create", "secret", "generic", "a", check=False)
        jane = cluster.kubectl("get", "pods", "--as=jane", check=False)
        server = f"--server=https://127.0.0.1:{cluster.port}"
        token = ("--kubeconfig=/dev/null", server, "--insecure-skip-tls-verify", "--token=broken")
        stranger = cluster.kubectl(*token, "get", "pods", check=False)
        for index in range(10):
            cluster.kubectl("create", "namespace", f"n{index}")
        cluster.kubectl("run", "web", "--image=host", "--command", "--", "sleep", "60")
        cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
        eventually(lambda: all(any(line in said for said in cluster.output) for line in BLAMED))

    blamed = "admission plugin 'BrokenCheck' of acme-broken, in BrokenCheck.admission_validate, acme_broken.py:13"
    assert f"Internal error occurred: KeyError('spec') ({blamed})" in refused.err
    rules = "authz plugin 'BrokenRules' of acme-broken, in BrokenRules.authz_authorize, acme_broken.py:27"
    assert f"Internal error occurred: KeyError('rule') ({rules})" in jane.err
    tokens = "authn plugin 'BrokenTokens' of acme-broken, in BrokenTokens.authn_authenticate, acme_broken.py:20"
    assert f"Internal error occurred: KeyError('token') ({tokens})" in stranger.err
    assert any(f"/secrets failed: {blamed}" in line for line in cluster.output)
    seconds = CLOCK.monotonic() - began
    assert len(cluster.output) < max(MOST_LINES, PER_SECOND * seconds), "".join(cluster.output)
