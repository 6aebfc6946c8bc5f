"""What a container's security context and limits ask for holds for its process."""

import os
from pathlib import Path

import pytest
from hyperkube_runtime.process.confinement import CAPABILITIES, Confinement, confinement
from hyperkube_runtime.process.shim import cgroups

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root has privileges to give up")
STATUS = "grep -E '^(NoNewPrivs|CapBnd|CapEff|CapPrm|CapInh):' /proc/self/status | tr -d '\\t' | tr '\\n' ' '"
EAT_MEMORY = "exec python3 -c 'x = bytearray(200 << 20); import time; time.sleep(60)'"
needs_cpu_group = pytest.mark.skipif("cpu" not in cgroups.usable(), reason="this machine lets us make no cpu groups")


def asks(**security):
    return confinement({"linux": {"security_context": security}})


def numbers(*names):
    return tuple(sorted(CAPABILITIES.index(name) for name in names))


@pytest.mark.parametrize(
    ("security", "expected"),
    [
        pytest.param({}, Confinement(), id="nothing"),
        pytest.param({"no_new_privs": True}, Confinement(no_new_privileges=True), id="escalation"),
        pytest.param({"readonly_rootfs": True}, Confinement(read_only_root=True), id="read-only"),
        pytest.param({"capabilities": {"drop_capabilities": ["ALL"]}}, Confinement(capabilities=()), id="drop-all"),
        pytest.param(
            {"capabilities": {"drop_capabilities": ["all"], "add_capabilities": ["NET_BIND_SERVICE", "CAP_CHOWN"]}},
            Confinement(capabilities=numbers("CHOWN", "NET_BIND_SERVICE")),
            id="drop-all-but",
        ),
        pytest.param(
            {"capabilities": {"drop_capabilities": ["MKNOD"]}},
            Confinement(capabilities=numbers(*(name for name in CAPABILITIES if name != "MKNOD"))),
            id="drop-one",
        ),
        pytest.param(
            {"privileged": True, "capabilities": {"drop_capabilities": ["ALL"]}}, Confinement(), id="privileged"
        ),
    ],
)
def test_a_security_context_is_read(security, expected):
    assert asks(**security) == expected


def test_limits_are_read():
    resources = {"memory_limit_in_bytes": 64 << 20, "cpu_quota": 25000, "cpu_period": 100000}

    assert confinement({"linux": {"resources": resources}}) == Confinement(memory=64 << 20, cpu=250)


def test_no_privileges_can_be_gained_where_escalation_is_forbidden(run):
    outcome = output_of(run, STATUS, no_new_privs=True)

    assert "NoNewPrivs:1" in outcome


def test_privileges_can_be_gained_otherwise(run):
    assert "NoNewPrivs:0" in output_of(run, STATUS)


@ROOT_ONLY
@pytest.mark.parametrize("user", [None, 70000])
def test_dropped_capabilities_are_gone_for_good(run, user):
    security = {"capabilities": {"drop_capabilities": ["ALL"], "add_capabilities": ["CHOWN"]}} | (
        {"run_as_user": {"value": user}} if user else {}
    )

    outcome = output_of(run, STATUS, **security)

    effective = "0" * 16 if user else "0" * 15 + "1"
    assert outcome.split() == [
        f"CapInh:{'0' * 16}", f"CapPrm:{effective}", f"CapEff:{effective}", f"CapBnd:{'0' * 15}1", "NoNewPrivs:0"
    ]  # fmt: skip


def test_a_command_beside_the_container_is_confined_as_it_is(runtime, start):
    _, container = start("sleep 1000", security={"no_new_privs": True})

    process = runtime.exec(container, ["sh", "-c", STATUS], stdin=False, tty=False)
    assert process.wait(30) == 0

    assert b"NoNewPrivs:1" in os.read(process.stdout, 1000)
    os.close(process.stdout)
    os.close(process.stderr)


def test_a_read_only_root_leaves_only_the_volumes_to_write_to(runtime, run, tmp_path):
    if not runtime._fork_server.can_make_views():
        pytest.skip("this machine allows no private mounts")
    volume, sealed = tmp_path / "volume", tmp_path / "sealed"
    volume.mkdir()
    sealed.mkdir()

    outcome = output_of(
        run,
        f"for path in /nosuchtop/data /tmp /etc . {tmp_path} /nosuchtop/sealed; do "
        "touch $path/x 2>/dev/null && echo $path; done; echo > /dev/null && echo written",
        readonly_rootfs=True,
        mounts=(
            {"host_path": str(volume), "container_path": "/nosuchtop/data"},
            {"host_path": str(sealed), "container_path": "/nosuchtop/sealed", "readonly": True},
        ),
    )

    assert outcome.split() == ["/nosuchtop/data", "written"]
    assert [entry.name for entry in volume.iterdir()] == ["x"]


@pytest.mark.parametrize("grouped", [pytest.param(True, id="control-group"), pytest.param(False, id="watched")])
def test_a_container_over_its_memory_limit_is_killed(run, grouped, monkeypatch):
    if grouped and "memory" not in cgroups.usable():
        pytest.skip("this machine lets us make no memory groups")
    if not grouped:
        # The shims are forked by a fresh interpreter: what it must not find is taken away where it looks.
        monkeypatch.setattr("hyperkube_runtime.process.shim_client._FORK_SERVER", WITHOUT_GROUPS)

    status, _ = run(EAT_MEMORY, resources={"memory_limit_in_bytes": 64 << 20})

    assert (status.exit_code, status.reason) == (137, "OOMKilled")


WITHOUT_GROUPS = (
    "import sys; sys.path.insert(0, sys.argv[1]); from shim import cgroups; cgroups.usable = dict; "
    "from shim.fork_server import main; main()"
)


def test_a_container_below_its_memory_limit_runs(run):
    status, output = run("sleep 1; echo done", resources={"memory_limit_in_bytes": 64 << 20})

    assert (status.exit_code, output) == (0, "done")


@needs_cpu_group
def test_a_cpu_limit_slows_a_container_down_and_leaves_nothing(run):
    script = "python3 -c 'import time; s = time.time()\nwhile time.time() - s < 2: pass\nprint(time.process_time())'"

    status, output = run(script, resources={"cpu_quota": 20000, "cpu_period": 100000})

    assert float(output) < 1.0
    left = [place for place in cgroups.usable().values() if Path(place, "hyperkube", status.id).exists()]
    assert left == []


def output_of(run, script, mounts=(), **security):
    """Return the output of a container with a security context."""
    return run(script, mounts=mounts, security=security).output


@pytest.fixture
def delegated(tmp_path):
    """A tree of version 2 in which a group above our own passes cpu and memory on."""
    ours = tmp_path / "user.slice" / "app.slice" / "run.scope"
    ours.mkdir(parents=True)
    for folder, controllers in ((ours.parent, "cpu memory pids"), (ours, ""), (ours.parent.parent, "cpu memory")):
        (folder / "cgroup.subtree_control").write_text(controllers + "\n")
        (folder / "cgroup.procs").touch()
    return tmp_path


def test_groups_are_made_below_the_nearest_that_passes_its_controllers_on(delegated):
    places = cgroups.usable("0::/user.slice/app.slice/run.scope\n", str(delegated))

    assert places == dict.fromkeys(("cpu", "memory"), str(delegated / "user.slice" / "app.slice"))


def test_nothing_is_made_where_nothing_is_delegated(delegated):
    for folder in (delegated / "user.slice", delegated / "user.slice" / "app.slice"):
        (folder / "cgroup.subtree_control").write_text("pids\n")

    assert cgroups.usable("0::/user.slice/app.slice/run.scope\n", str(delegated)) == {}
