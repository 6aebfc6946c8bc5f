"""Volumes of a driver, and of a kubelet, that ends in the middle of each call: none leaks, and no data is lost."""

from __future__ import annotations

import contextlib
import threading

import pytest
from csi_volumes import SECONDS, claim, pod, run, status, wait_ready
from interrupted_driver import CONTROLLER, NODE

from hyperkube.testing.waiting import eventually

pytestmark = pytest.mark.timeout(600)

WRITE = "dd if=/dev/urandom of=/data/file bs=1M count=2 2>/dev/null; sync; md5sum < /data/file"


@contextlib.contextmanager
def beside(step):
    """Repeat a step on a thread as long as the block runs; fail if it failed."""
    done, failed = threading.Event(), []

    def repeat():
        try:
            while not done.wait(0.05):
                step()
        except Exception as error:  # noqa: BLE001  it is raised again on the test's own thread
            failed.append(error)

    thread = threading.Thread(target=repeat, name="interruptions")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    assert not failed, failed


def life_of_a_volume(cluster, driver, name):
    """Make a claim, use it from one pod after the other, and delete all; the second must read what the first wrote."""
    cluster.apply(claim(name), pod(f"{name}-1", name))
    wait_ready(cluster, f"{name}-1", seconds=3 * SECONDS)
    written = run(cluster, f"{name}-1", WRITE)
    cluster.kubectl("delete", "pod", f"{name}-1", "--wait", seconds=3 * SECONDS)
    cluster.apply(pod(f"{name}-2", name))
    wait_ready(cluster, f"{name}-2", seconds=3 * SECONDS)
    assert run(cluster, f"{name}-2", "md5sum < /data/file") == written
    cluster.kubectl("delete", "pod", f"{name}-2", "--wait", seconds=3 * SECONDS)
    cluster.kubectl("delete", "pvc", name, "--wait=false")
    eventually(lambda: driver.volumes() == [], 3 * SECONDS, why="no volume is left")
    eventually(lambda: cluster.get("volumeattachments") == [], SECONDS, why="no attachment is left")
    eventually(lambda: not any("csi" in pv["spec"] for pv in cluster.get("pv")), 3 * SECONDS, why="no PV is left")
    assert driver.loop_devices() == []


@pytest.fixture
def moments(driver, tmp_path):
    """Where the driver tells of its interruptions; in the end it is the usual one again."""
    yield tmp_path
    driver.interrupted_in("", tmp_path)


def test_a_driver_that_dies_before_and_after_each_call(cluster, driver, moments):
    driver.interrupted_in("die", moments)

    def bring_back():
        if not driver.program.running():
            driver.start()

    with beside(bring_back):
        life_of_a_volume(cluster, driver, "mortal")

    wanted = {f"{call}-{when}" for call in (*CONTROLLER, *NODE) for when in ("before", "after")}
    assert {path.name for path in moments.iterdir()} == wanted


def test_a_kubelet_that_dies_while_each_call_goes_on(cluster, node, driver, moments):
    driver.interrupted_in("hold", moments)

    def kill_kubelet():
        for call in NODE:
            moment, go = moments / f"{call}-after", moments / f"{call}-after.go"
            if moment.exists() and not go.exists():
                cluster.kubelets[node.name].kill()
                cluster.join(node, wait=False)
                go.touch()

    with beside(kill_kubelet):
        life_of_a_volume(cluster, driver, "steady")

    assert {path.name for path in moments.glob("*.go")} == {f"{call}-after.go" for call in NODE}
    eventually(lambda: not status(cluster, "node", node.name).get("volumesInUse"), SECONDS, why="none is in use")
