"""A driver of the test's own, over a real socket: claims prepared and unprepared, CDI devices, health, refusals."""

import threading
import time

import pytest
from hyperkube_host.kubelet.apis import dra, dra_health
from hyperkube_host.kubelet.cm.dra.claim_info import FILE_NAME
from hyperkube_host.kubelet.cm.dra.dra_manager import DraManager
from hyperkube_host.kubelet.cm.dra.dra_plugin import HEALTH_SERVICE, SERVICE, DraPlugins
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginRefused
from hyperkube_lib.grpc_messages import GrpcServer, RpcFailed

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import NotFound, UsageError

DRIVER = "gpu.example.com"
CONTAINER = {"name": "c", "resources": {"claims": [{"name": "gpu"}]}}


def until(condition, seconds=10):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


class Driver:
    """A driver that prepares every claim as two devices."""

    def __init__(self, socket):
        self.calls, self.error, self.refuse = [], "", False
        self._end = threading.Event()
        self.server = GrpcServer(threads=4)
        handlers = {"NodePrepareResources": self._prepare, "NodeUnprepareResources": self._unprepare}
        self.server.add_service(dra().service("DRAPlugin"), handlers)
        self.server.add_service(dra_health().service("DRAResourceHealth"), {"NodeWatchResources": self._health})
        self.server.listen(str(socket))
        self.server.start()

    def _answers(self, name, request, answer):
        claims = request["claims"]
        self.calls.append((name, [claim["uid"] for claim in claims]))
        if self.refuse:
            raise RpcFailed("UNAVAILABLE", "gone fishing")
        return {"claims": {claim["uid"]: {"error": self.error} if self.error else answer for claim in claims}}

    def _prepare(self, request):
        devices = [
            {"pool_name": "p", "device_name": f"d{n}", "request_names": [f"r{n}"], "cdi_device_ids": [f"ex/gpu=d{n}"]}
            for n in (0, 1)
        ]
        return self._answers("prepare", request, {"devices": devices})

    def _unprepare(self, request):
        return self._answers("unprepare", request, {})

    def _health(self, _request):
        device = {"pool_name": "p", "device_name": "d0"}
        yield {
            "devices": [{"device": device, "health": "UNHEALTHY", "message": "hot", "health_check_timeout_seconds": 9}]
        }
        self._end.wait()

    def stop(self):
        self._end.set()
        self.server.stop()


class Claims:
    """The API server, as far as claims go."""

    def __init__(self):
        self.claims = {}

    def get(self, _resource, name, namespace=""):
        if name not in self.claims:
            raise NotFound(f'resourceclaims.resource.k8s.io "{name}" not found')
        return self.claims[name]

    def add(self, name, *, uid="claim-1", pods=("pod-1",), owner=None, drivers=(DRIVER,)):
        owners = [{"uid": owner, "controller": True}] if owner else []
        results = [{"driver": driver, "pool": "p", "device": "d0", "request": "r0"} for driver in drivers]
        self.claims[name] = {
            "metadata": {"name": name, "namespace": "ns", "uid": uid, "ownerReferences": owners},
            "status": {
                "reservedFor": [{"resource": "pods", "uid": pod} for pod in pods],
                "allocation": {"devices": {"results": results}},
            },
        }


def pod(uid="pod-1", **status):
    claims = [{"name": "gpu", **({} if status else {"resourceClaimName": "gpu-claim"})}]
    return {
        "metadata": {"name": uid, "namespace": "ns", "uid": uid},
        "spec": {"containers": [CONTAINER], "resourceClaims": claims},
        "status": status,
    }


@pytest.fixture
def rig(tmp_path):
    class Rig:
        folder = tmp_path
        clock = FakeClock()

        def __init__(self):
            self.api = Claims()
            self.api.add("gpu-claim")
            self.driver = Driver(tmp_path / "dra.sock")
            self.plugins = DraPlugins(self.clock)
            self.manager = self.restarted()

        def restarted(self):
            return DraManager(tmp_path, self.api, self.plugins)

        def register(self, *more):
            self.plugins.register(DRIVER, str(tmp_path / "dra.sock"), [SERVICE, *more])

    made = Rig()
    yield made
    made.manager.close()
    made.driver.stop()


def test_a_container_gets_the_devices_of_its_prepared_claims(rig):
    rig.register()

    rig.manager.prepare(pod())

    assert rig.driver.calls == [("prepare", ["claim-1"])]
    assert rig.manager.run_options(pod(), CONTAINER).cdi_devices == ("ex/gpu=d0", "ex/gpu=d1")


def test_a_container_that_names_a_request_gets_only_its_devices(rig):
    rig.register()
    rig.manager.prepare(pod())
    one = {"name": "c", "resources": {"claims": [{"name": "gpu", "request": "r1"}]}}

    assert rig.manager.run_options(pod(), one).cdi_devices == ("ex/gpu=d1",)


def test_a_claim_is_prepared_once_and_unprepared_after_its_last_pod(rig):
    rig.register()
    rig.api.add("gpu-claim", pods=("pod-1", "pod-2"))
    first, second = pod(), pod("pod-2")

    rig.manager.prepare(first)
    rig.manager.prepare(second)
    rig.manager.unprepare(first)
    rig.manager.unprepare(second)
    rig.manager.unprepare(second)

    assert rig.driver.calls == [("prepare", ["claim-1"]), ("unprepare", ["claim-1"])]


def test_a_restarted_kubelet_knows_what_is_prepared(rig):
    rig.register()
    rig.manager.prepare(pod())

    again = rig.restarted()
    again.prepare(pod())

    assert again.run_options(pod(), CONTAINER).cdi_devices == ("ex/gpu=d0", "ex/gpu=d1")
    assert [name for name, _ in rig.driver.calls] == ["prepare"]


def test_what_a_driver_does_not_unprepare_is_tried_again(rig):
    rig.register()
    rig.manager.prepare(pod())
    rig.driver.refuse = True
    rig.manager.unprepare(pod())
    rig.driver.refuse = False

    rig.manager.remove_orphans([])

    assert [name for name, _ in rig.driver.calls] == ["prepare", "unprepare", "unprepare"]
    rig.manager.remove_orphans([])
    assert len(rig.driver.calls) == 3


def failure(rig, one):
    with pytest.raises(ContainerManagerFailed) as caught:
        rig.manager.prepare(one)
    return str(caught.value).removeprefix("prepare dynamic resources: ")


def test_without_its_driver_a_pod_waits_and_can_be_deleted(rig):
    assert failure(rig, pod()) == f"DRA driver {DRIVER} is not registered"

    rig.manager.unprepare(pod())
    assert rig.driver.calls == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pods": ("other",)}, "pod pod-1 (pod-1) is not allowed to use ResourceClaim gpu-claim (claim-1)"),
        ({"drivers": ("absent.example.com",)}, "DRA driver absent.example.com is not registered"),
    ],
)
def test_claims_that_the_pod_may_not_use_are_refused(rig, change, message):
    rig.register()
    rig.api.add("gpu-claim", **change)

    assert failure(rig, pod()) == message


def test_a_generated_claim_must_be_the_pods_own(rig):
    rig.register()
    rig.api.add("made", owner="another-pod")
    one = pod(resourceClaimStatuses=[{"name": "gpu", "resourceClaimName": "made"}])

    assert failure(rig, one) == "ResourceClaim ns/made was not created for Pod ns/pod-1 (Pod is not owner)"


def test_a_claim_that_is_not_generated_yet_is_waited_for(rig):
    assert failure(rig, pod(phase="Pending")) == 'pod "ns/pod-1": ResourceClaim not created yet'


def test_a_claim_that_is_gone_is_told(rig):
    rig.api.claims.clear()

    assert failure(rig, pod()).startswith("fetch ResourceClaim gpu-claim: ")


def test_the_drivers_reason_is_told(rig):
    rig.register()
    rig.driver.error = "no power"

    assert failure(rig, pod()) == "NodePrepareResources failed for ResourceClaim gpu-claim: no power"


def test_a_driver_that_fails_as_a_whole_is_told(rig):
    rig.register()
    rig.driver.refuse = True

    assert failure(rig, pod()) == "NodePrepareResources: rpc error: code = Unavailable desc = gone fishing"


def test_a_new_claim_of_an_old_name_waits_until_the_old_one_is_unprepared(rig):
    rig.register()
    rig.manager.prepare(pod())
    rig.api.add("gpu-claim", uid="claim-2")

    assert "old ResourceClaim with same name gpu-claim and different UID claim-1 still exists" in failure(rig, pod())


def test_health_that_a_driver_tells_is_in_the_pods_status_until_it_is_too_old(rig):
    rig.register(HEALTH_SERVICE)
    rig.manager.prepare(pod())
    until(lambda: rig.plugins.health(DRIVER, "p", "d0")[0] == "Unhealthy")

    assert rig.manager.health(pod(), CONTAINER) == [
        {
            "name": "claim:gpu",
            "resources": [
                {"resourceID": "ex/gpu=d0", "health": "Unhealthy", "message": "hot"},
                {"resourceID": "ex/gpu=d1", "health": "Unknown"},
            ],
        }
    ]
    rig.clock.advance(10)
    assert rig.plugins.health(DRIVER, "p", "d0") == ("Unknown", "")


def test_claims_are_told_to_monitors(rig):
    rig.register()
    rig.manager.prepare(pod())

    (told,) = rig.manager.claims_of(pod(), CONTAINER)

    assert (told["claim_name"], told["claim_namespace"]) == ("gpu-claim", "ns")
    assert told["claim_resources"][0] == {
        "driver_name": DRIVER,
        "pool_name": "p",
        "device_name": "d0",
        "cdi_devices": [{"name": "ex/gpu=d0"}],
    }


def test_a_container_without_claims_gets_nothing(rig):
    assert rig.manager.run_options(pod(), {"name": "d"}).cdi_devices == ()
    assert rig.manager.health(pod(), {"name": "d"}) == []


def test_a_container_whose_claim_is_not_prepared_is_not_created(rig):
    with pytest.raises(ContainerManagerFailed, match="unable to get resource for namespace: ns, claim: gpu-claim"):
        rig.manager.run_options(pod(), CONTAINER)


@pytest.mark.parametrize(
    ("name", "endpoint", "versions"),
    [("", "/x", [SERVICE]), (DRIVER, "", [SERVICE]), (DRIVER, "/x", []), (DRIVER, "/x", ["v0.DRAPlugin"])],
)
def test_drivers_that_say_too_little_are_refused(rig, name, endpoint, versions):
    with pytest.raises(PluginRefused):
        rig.plugins.validate(name, endpoint, versions)


def test_a_driver_that_was_replaced_is_not_deregistered_by_its_predecessor(rig):
    rig.register()

    rig.plugins.deregister(DRIVER, "/an/older.sock")

    assert rig.plugins.get(DRIVER)
    rig.plugins.deregister(DRIVER, str(rig.folder / "dra.sock"))
    with pytest.raises(ContainerManagerFailed):
        rig.plugins.get(DRIVER)


def test_a_checkpoint_that_cannot_be_trusted_stops_the_start(rig):
    rig.register()
    rig.manager.prepare(pod())
    (rig.folder / FILE_NAME).write_text('{"Data": "{}", "Checksum": 1}')

    with pytest.raises(UsageError, match="failed to read checkpoint"):
        rig.restarted()
