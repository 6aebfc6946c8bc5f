"""The process runtime with real processes."""

import logging
import os
import signal
import threading
from pathlib import Path

import pytest
from hyperkube_runtime.process import Process
from hyperkube_runtime.process.runtime import ProcessRuntime
from hyperkube_testing.node_contracts.runtime import RuntimeContract

from hyperkube.hookspecs.runtime import (
    ContainerNotFound,
    ImageNotPresent,
    RuntimeFailed,
)
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import PluginContext
from hyperkube.testing.waiting import eventually as until


@pytest.fixture
def root(tmp_path):
    return tmp_path / "process"


@pytest.fixture
def runtime(root):
    runtime = build(root)
    yield runtime
    for sandbox in runtime.sandboxes():
        runtime.remove_sandbox(sandbox.id)
    runtime.close()


def build(root: Path, **options) -> ProcessRuntime:
    return ProcessRuntime(root, clock=SystemClock(), logger=logging.getLogger("test"), **options)


def sandbox(runtime, tmp_path) -> str:
    return runtime.run_sandbox(pod_config(tmp_path), "")


def pod_config(tmp_path):
    metadata = {"namespace": "default", "name": "p", "uid": "u"}
    return {"metadata": metadata, "hostname": "p", "log_directory": str(tmp_path / "logs")}


def config(*command, image="host", env=(), **fields):
    return {
        "metadata": {"name": "c"},
        "image": {"image": image},
        "command": list(command),
        "envs": [{"key": key, "value": value} for key, value in env],
        "log_path": "c/0.log",
        **fields,
    }


def run(runtime, tmp_path, script, sandbox_id=None, **fields) -> str:
    sandbox_id = sandbox_id or sandbox(runtime, tmp_path)
    container = runtime.create_container(sandbox_id, config("sh", "-c", script, **fields), pod_config(tmp_path))
    runtime.start_container(container)
    return container


def ended(runtime, container):
    until(lambda: runtime.container(container).state == "exited")
    return runtime.container(container)


def log(tmp_path) -> list[list[str]]:
    return [line.split(" ", 3)[1:] for line in (tmp_path / "logs/c/0.log").read_text().splitlines()]


def test_an_exit_code_and_the_output_are_kept(runtime, tmp_path):
    container = run(runtime, tmp_path, "echo out; echo err >&2; printf rest; exit 3")

    status = ended(runtime, container)

    assert (status.exit_code, status.reason) == (3, "Error")
    assert status.finished_at >= status.started_at > 0
    assert sorted(log(tmp_path)) == [["stderr", "F", "err"], ["stdout", "F", "out"], ["stdout", "P", "rest"]]


def test_success_is_completed(runtime, tmp_path):
    container = run(runtime, tmp_path, "true")

    assert (ended(runtime, container).exit_code, ended(runtime, container).reason) == (0, "Completed")


def test_a_process_that_is_killed_exits_with_137(runtime, tmp_path):
    container = run(runtime, tmp_path, "kill -9 $$")

    assert ended(runtime, container).exit_code == 137


def test_stop_sends_term_first(runtime, tmp_path):
    container = run(runtime, tmp_path, "trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done")
    until(lambda: (tmp_path / "logs/c/0.log").stat().st_size)

    runtime.stop_container(container, 5)

    assert runtime.container(container).exit_code == 7


def test_stop_kills_after_the_grace_period(runtime, tmp_path):
    container = run(runtime, tmp_path, "trap '' TERM; echo up; while :; do sleep 0.01; done")
    until(lambda: (tmp_path / "logs/c/0.log").stat().st_size)

    runtime.stop_container(container, 0.1)

    assert runtime.container(container).exit_code == 137


def test_a_shorter_grace_period_overtakes_a_longer_one(runtime, tmp_path):
    container = run(runtime, tmp_path, "trap '' TERM; echo up; while :; do sleep 0.01; done")
    until(lambda: (tmp_path / "logs/c/0.log").stat().st_size)
    patient = threading.Thread(target=runtime.stop_container, args=(container, 60))
    patient.start()

    runtime.stop_container(container, 0.05)
    patient.join(30)

    assert not patient.is_alive()


def test_nothing_of_a_container_outlives_it(runtime, tmp_path):
    container = run(runtime, tmp_path, "setsid sleep 1000 & echo $!; exec sleep 0.05")
    until(lambda: log(tmp_path))
    stray = int(log(tmp_path)[0][2])

    ended(runtime, container)

    with pytest.raises(ProcessLookupError):
        os.kill(stray, 0)


def test_a_missing_program_is_explained(runtime, tmp_path):
    sandbox_id = sandbox(runtime, tmp_path)
    container = runtime.create_container(sandbox_id, config("nosuchthing"), pod_config(tmp_path))

    with pytest.raises(RuntimeFailed, match=r'exec: "nosuchthing": executable file not found in \$PATH'):
        runtime.start_container(container)

    assert (runtime.container(container).exit_code, runtime.container(container).reason) == (128, "StartError")


def test_any_other_image_says_what_to_do(runtime, tmp_path):
    with pytest.raises(RuntimeFailed, match=r"set image: host and give a command$"):
        runtime.pull_image({"image": "nginx"}, None, {})
    with pytest.raises(ImageNotPresent):
        run(runtime, tmp_path, "true", image="nginx")


def test_a_command_is_needed(runtime, tmp_path):
    with pytest.raises(RuntimeFailed, match="no command specified"):
        runtime.create_container(sandbox(runtime, tmp_path), config(), pod_config(tmp_path))


def test_a_restarted_kubelet_takes_up_running_containers_and_missed_ends(root, tmp_path):
    before = build(root)
    sandbox_id = sandbox(before, tmp_path)
    running = run(before, tmp_path, "sleep 1000", sandbox_id)
    end, ended_alone = tmp_path / "end", tmp_path / "ended"
    ending = run(before, tmp_path, f"until [ -e {end} ]; do sleep 0.02; done; touch {ended_alone}; exit 4", sandbox_id)
    before.close()
    end.touch()
    until(ended_alone.exists)

    after = build(root)
    until(lambda: after.container(ending).state == "exited")
    states = {status.id: (status.state, status.exit_code) for status in after.containers()}
    after.remove_sandbox(sandbox_id)
    left = list(after.containers()), list(after.sandboxes())
    after.close()

    assert states == {running: ("running", 0), ending: ("exited", 4)}
    assert left == ([], [])


def test_a_killed_shim_ends_its_container(runtime, root, tmp_path):
    container = run(runtime, tmp_path, "sleep 1000")
    reported = runtime._containers[container].reported

    os.kill(reported.shim_pid, signal.SIGKILL)

    assert ended(runtime, container).exit_code == 137
    until(lambda: not Path(f"/proc/{reported.pid}").exists() or "Z" in Path(f"/proc/{reported.pid}/stat").read_text())


def test_changes_are_told(runtime, tmp_path):
    told = []
    runtime.subscribe(told.append)
    sandbox_id = sandbox(runtime, tmp_path)

    run(runtime, tmp_path, "exit 0", sandbox_id)

    until(lambda: told and told[0] == "u")


def test_a_log_goes_on_in_a_fresh_file_after_reopen(runtime, tmp_path):
    container = run(runtime, tmp_path, "echo one; read x; echo two; sleep 1000", stdin=True)
    path = tmp_path / "logs/c/0.log"
    until(lambda: path.stat().st_size)
    path.rename(path.with_suffix(".old"))

    runtime.reopen_log(container)
    attached = runtime.attach(container, stdin=True)
    os.write(attached.stdin, b"\n")
    until(lambda: path.stat().st_size)

    assert log(tmp_path) == [["stdout", "F", "two"]]
    assert os.read(attached.stdout, 100) == b"two\n"
    close(attached)


def close(process):
    process.kill()
    for descriptor in (process.stdin, process.stdout, process.stderr):
        if descriptor is not None:
            os.close(descriptor)


def read_all(descriptor) -> bytes:
    out = b""
    while True:
        try:
            data = os.read(descriptor, 4096)
        except OSError:
            return out
        if not data:
            return out
        out += data


def test_exec_runs_beside_the_container(runtime, tmp_path):
    container = run(runtime, tmp_path, "sleep 1000", env=(("COLOUR", "blue"),))

    process = runtime.exec(container, ["sh", "-c", "echo $COLOUR; cat; exit 9"], stdin=True, tty=False)
    os.write(process.stdin, b"typed")
    os.close(process.stdin)
    process.stdin = None

    assert read_all(process.stdout) == b"blue\ntyped"
    assert process.wait(30) == 9
    close(process)


def test_exec_on_a_terminal(runtime, tmp_path):
    container = run(runtime, tmp_path, "sleep 1000")

    process = runtime.exec(container, ["sh", "-c", "stty size; test -t 0"], stdin=True, tty=True)
    process.resize(120, 40)

    assert process.wait(30) == 0
    assert process.stderr is None
    assert read_all(process.stdout).strip() in {b"40 120", b"0 0"}
    close(process)


def test_exec_of_a_missing_program_fails(runtime, tmp_path):
    container = run(runtime, tmp_path, "sleep 1000")

    with pytest.raises(RuntimeFailed, match="executable file not found"):
        runtime.exec(container, ["nosuchthing"], stdin=False, tty=False)


def test_exec_needs_a_running_container(runtime, tmp_path):
    container = run(runtime, tmp_path, "true")
    ended(runtime, container)

    with pytest.raises(ContainerNotFound):
        runtime.exec(container, ["true"], stdin=False, tty=False)


def test_a_killed_exec_is_gone(runtime, tmp_path):
    container = run(runtime, tmp_path, "sleep 1000")
    process = runtime.exec(container, ["sh", "-c", "echo $$; exec sleep 1000"], stdin=False, tty=False)
    pid = int(os.read(process.stdout, 100))

    close(process)

    until(lambda: not Path(f"/proc/{pid}").exists())


@pytest.mark.parametrize("private", [True, False])
def test_volumes_are_linked_under_the_root_variable(root, tmp_path, private):
    runtime = build(root, private_views=private)
    volume = tmp_path / "volume"
    volume.mkdir()
    (volume / "key").write_text("value")

    container = run(
        runtime,
        tmp_path,
        "cat $HYPERKUBE_ROOT/etc/config/key",
        mounts=({"host_path": str(volume), "container_path": "/etc/config"},),
    )
    ended(runtime, container)
    runtime.close()

    assert log(tmp_path) == [["stdout", "P", "value"]]


def test_volumes_lie_at_their_mount_paths_in_a_private_view(runtime, tmp_path):
    volume = tmp_path / "volume"
    volume.mkdir()
    (volume / "key").write_text("value\n")
    file = tmp_path / "file"
    file.write_text("")
    mounts = (
        {"host_path": str(volume), "container_path": "/etc/config"},
        {"host_path": str(volume), "container_path": "/var/run/secrets/kubernetes.io/serviceaccount", "readonly": True},
        {"host_path": str(volume), "container_path": "/nosuchtop/data"},
        {"host_path": str(file), "container_path": "/dev/termination-log"},
    )

    container = run(
        runtime,
        tmp_path,
        "cat /etc/config/key /var/run/secrets/kubernetes.io/serviceaccount/key /nosuchtop/data/key; "
        "touch /var/run/secrets/kubernetes.io/serviceaccount/x 2>/dev/null || echo read-only; "
        "printf bye > /dev/termination-log; test -e /etc/passwd && test -c /dev/null && hostname",
        mounts=mounts,
    )
    ended(runtime, container)
    if runtime._containers[container].reported.view != "private":
        pytest.skip("this machine allows no private mounts")

    assert [text for _, _, text in log(tmp_path)] == ["value", "value", "value", "read-only", "p"]
    assert file.read_text() == "bye"
    assert not Path("/nosuchtop").exists()
    assert not Path("/etc/config").exists()


def test_addresses_are_remembered(root, tmp_path):
    before = build(root)
    sandbox_id = sandbox(before, tmp_path)
    before.assign_addresses(sandbox_id, ["127.9.0.2"])
    before.close()

    after = build(root)
    (found,) = after.sandboxes()
    after.close()

    assert found.ips == ("127.9.0.2",)
    assert found.ready


def test_stopping_a_sandbox_makes_it_not_ready(runtime, tmp_path):
    sandbox_id = sandbox(runtime, tmp_path)
    container = run(runtime, tmp_path, "sleep 1000", sandbox_id)

    runtime.stop_sandbox(sandbox_id)

    assert runtime.container(container).state == "exited"
    assert [found.ready for found in runtime.sandboxes()] == [False]


class TestContract(RuntimeContract):
    def build(self, state):
        return build(state)


def test_the_plugin_builds_it_under_the_root_folder(tmp_path):
    context = PluginContext(name="process", settings={"root_dir": str(tmp_path)})

    runtime = Process(context).runtime_build()
    runtime.close()

    assert (tmp_path / "process" / "containers").is_dir()


def test_the_end_of_a_clients_input_reaches_a_container_with_stdin_once(runtime, tmp_path):
    container = run(runtime, tmp_path, "cat; echo end", stdin=True, stdin_once=True)
    attached = runtime.attach(container, stdin=True)
    os.write(attached.stdin, b"hi\n")

    os.close(attached.stdin)
    attached.stdin = None

    assert ended(runtime, container).exit_code == 0
    assert log(tmp_path) == [["stdout", "F", "hi"], ["stdout", "F", "end"]]
    close(attached)


def test_input_without_stdin_once_outlives_its_client(runtime, tmp_path):
    container = run(runtime, tmp_path, "read first; read second; echo $first $second", stdin=True)
    for word in (b"a\n", b"b\n"):
        attached = runtime.attach(container, stdin=True)
        os.write(attached.stdin, word)
        close(attached)

    ended(runtime, container)

    assert log(tmp_path) == [["stdout", "F", "a b"]]
