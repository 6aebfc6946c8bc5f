"""What flows between kubectl and a container: logs, exec, attach, port-forward, cp and terminals."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import socket
import subprocess
import time

import pytest
from local_cluster import curl, eventually, free_port, pod, reading

COUNTER = "i=0; while true; do echo line $i; i=$((i+1)); sleep 0.05; done"


def test_logs_are_the_output_of_the_process(room):
    room.run_pod("talker", "echo to stdout; echo to stderr >&2; sleep 1000")

    logs = eventually(lambda: (text := room.kubectl("logs", "talker").out).count("\n") == 2 and text)

    assert sorted(logs.splitlines()) == ["to stderr", "to stdout"]
    assert room.kubectl("logs", "talker", "--tail=1").out.count("\n") == 1
    stamped = room.kubectl("logs", "talker", "--timestamps").out.splitlines()[0]
    assert stamped[:4].isdigit()
    assert stamped.split(" ", 1)[0].endswith("Z")
    refused = room.kubectl("logs", "talker", "-c", "nosuch", check=False)
    assert refused.code == 1
    assert "container nosuch is not valid for pod talker" in refused.err


def test_logs_follow(room):
    room.run_pod("counter", COUNTER)

    with reading(room.open("logs", "-f", "counter")) as logs:
        logs.has("line 0")
        logs.has("line 20")

    numbers = [int(line.split()[1]) for line in logs.lines]
    assert numbers == list(range(len(numbers)))


def test_logs_follow_ends_with_the_container(room):
    room.apply(pod("brief", "for i in 1 2 3; do echo $i; sleep 0.2; done", restartPolicy="Never"))
    room.kubectl(
        "wait", "--for=jsonpath={.status.containerStatuses[0].started}", "pod/brief", "--timeout=20s", check=False
    )

    logs = room.kubectl("logs", "-f", "brief", timeout=15).out

    assert logs == "1\n2\n3\n"


def test_logs_of_the_previous_run(room):
    room.apply(pod("again", 'echo "run of $$"; sleep 0.5; exit 3'))
    eventually(lambda: room.get("pod", "again")["status"].get("containerStatuses", [{}])[0].get("restartCount", 0) >= 1)

    previous = room.kubectl("logs", "--previous", "again").out

    assert previous.startswith("run of ")
    state = room.get("pod", "again")["status"]["containerStatuses"][0]["lastState"]
    assert state["terminated"]["exitCode"] == 3
    assert state["terminated"]["reason"] == "Error"


def test_exec_carries_input_output_and_exit_code(room):
    room.run_pod("host", "sleep 1000")

    echoed = room.kubectl(
        "exec", "-i", "host", "--", "sh", "-c", "cat; echo err >&2; exit 7", input="hello\n", check=False
    )

    assert echoed.out == "hello\n"
    assert echoed.err == "err\ncommand terminated with exit code 7\n"
    assert echoed.code == 7
    assert room.kubectl("exec", "host", "--", "printenv", "HOSTNAME").out == "host\n"
    many = room.kubectl("exec", "host", "--", "sh", "-c", "seq 1 200000").out
    assert many == "".join(f"{number}\n" for number in range(1, 200001))


def test_exec_of_an_unknown_program_says_so(room):
    room.run_pod("host", "sleep 1000")

    refused = room.kubectl("exec", "host", "--", "no-such-program", check=False)

    assert refused.code != 0
    assert "no-such-program" in refused.err


def test_exec_with_a_terminal(room):
    room.run_pod("host", "sleep 1000")

    code, text = _on_a_terminal(
        room, "exec", "-it", "host", "--", "sh", type_in=b"test -t 0 && echo is-a-$((1+1))-tty\nexit 5\n"
    )

    assert "is-a-2-tty" in text
    assert code == 5


def test_run_with_a_terminal(room):
    code, text = _on_a_terminal(
        room, "run", "shell", "-it", "--rm", "--restart=Never", "--image=host", "--quiet", "--",
        "sh", "-c", "read word; echo got:$word; test -t 1 && echo tty",
        type_in=b"something\n",
    )  # fmt: skip

    assert "got:something" in text
    assert "tty" in text
    assert code == 0
    assert room.get("pods") == []


def _on_a_terminal(room, *words, type_in, seconds=25.0):
    """Run kubectl on a pseudo-terminal; return its exit code and all that the screen showed."""
    ours, theirs = pty.openpty()
    process = room.open(*words, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown, sent, deadline = b"", False, time.monotonic() + seconds
    while time.monotonic() < deadline:
        readable, _, _ = select.select([ours], [], [], 0.3)
        if readable:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        elif process.poll() is not None:
            break
        if not sent and (shown or process.poll() is None) and _attached(room, words, shown):
            os.write(ours, type_in)
            sent = True
    try:
        code = process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"still running; the screen showed {shown!r}") from None
    finally:
        os.close(ours)
    return code, shown.decode(errors="replace")


def _attached(room, words, shown):
    """Tell whether what is typed now reaches the container: a prompt is seen, or the pod of `run` is up."""
    if words[0] == "run":
        found = [one for one in room.get("pods") if one["status"].get("phase") == "Running"]
        return bool(found)
    return b"$" in shown or b"#" in shown


def test_attach_reaches_the_running_process(room):
    room.run_pod(
        "echo", 'while read word; do echo "heard $word"; done',
        containers=[{"name": "main", "image": "host", "stdin": True,
                     "command": ["sh", "-c", 'while read word; do echo "heard $word"; done']}],
    )  # fmt: skip

    process = room.open("attach", "-i", "echo", stdin=subprocess.PIPE)
    with reading(process) as screen:
        process.stdin.write("one\ntwo\n")
        process.stdin.flush()
        screen.has("heard one")
        screen.has("heard two")

    assert "heard one" in room.kubectl("logs", "echo").out


def test_port_forward_reaches_the_pod(room):
    server = "import http.server,os; http.server.ThreadingHTTPServer((os.environ['POD_IP'], 8080), http.server.SimpleHTTPRequestHandler).serve_forever()"
    room.run_pod("web", f'mkdir -p www; cd www; echo forwarded > page; exec python3 -c "{server}"', port=8080)
    room.kubectl("expose", "pod", "web", "--port=80", "--target-port=8080")
    eventually(lambda: room.find("endpoints", "web").get("subsets"))

    for target, remote in (("pod/web", 8080), ("service/web", 80)):
        port = free_port()
        with reading(room.open("port-forward", target, f"{port}:{remote}")) as forward:
            forward.has("Forwarding from 127.0.0.1")
            answers = [eventually(lambda: _page(port)) for _ in range(3)]  # noqa: B023  called at once
        assert answers == ["forwarded\n"] * 3


def _page(port):
    answer = curl(f"http://127.0.0.1:{port}/page", check=False)
    return answer.out if answer.code == 0 else ""


def test_port_forward_over_spdy(room):
    server = "import socket,os; s=socket.create_server((os.environ['POD_IP'], 8080)); \nwhile True:\n c,_=s.accept(); c.sendall(c.recv(100).upper()); c.close()"
    room.run_pod("upper", f'exec python3 -c "{server}"', port=8080)
    port = free_port()

    with reading(
        room.open("port-forward", "pod/upper", f"{port}:8080", env_more={"KUBECTL_PORT_FORWARD_WEBSOCKETS": "false"})
    ) as forward:
        forward.has("Forwarding from 127.0.0.1")

        def answer():
            with socket.create_connection(("127.0.0.1", port), 5) as connection:
                connection.sendall(b"spdy")
                return connection.recv(100)

        assert eventually(answer) == b"SPDY"


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_exec_over_both_protocols(room, websockets):
    room.run_pod("host", "sleep 1000")

    answer = room.kubectl(
        "exec",
        "-i",
        "host",
        "--",
        "cat",
        input="x" * 200_000,
        env_more={"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": websockets},
    )

    assert answer.out == "x" * 200_000


def test_cp_carries_files_there_and_back(room, tmp_path):
    room.run_pod("host", "sleep 1000")
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "data").write_bytes(os.urandom(300_000))
    target = tmp_path / "in-the-pod"
    target.mkdir()

    room.kubectl("cp", str(folder / "data"), f"host:{target}/data")
    room.kubectl("cp", f"host:{target}/data", str(tmp_path / "back"))

    assert (tmp_path / "back").read_bytes() == (folder / "data").read_bytes()


def test_the_api_server_proxies_to_pods_services_and_nodes(room, up):
    server = "import http.server,os; http.server.ThreadingHTTPServer((os.environ['POD_IP'], 8080), http.server.SimpleHTTPRequestHandler).serve_forever()"
    room.run_pod("web", f'mkdir -p www; cd www; echo proxied > page; exec python3 -c "{server}"', port=8080)
    room.kubectl("expose", "pod", "web", "--port=8080")
    eventually(lambda: room.find("endpoints", "web").get("subsets"))
    node = up.get("nodes")[0]["metadata"]["name"]

    def page(kind, name):
        return room.kubectl("get", "--raw", f"/api/v1/namespaces/{room.name}/{kind}/{name}/proxy/page", check=False).out

    assert eventually(lambda: page("pods", "web:8080")) == "proxied\n"
    assert page("services", "web:8080") == "proxied\n"
    assert up.kubectl("get", "--raw", f"/api/v1/nodes/{node}/proxy/healthz").out == "ok"


def test_exec_from_python(room, up):
    kubernetes = pytest.importorskip("kubernetes", reason="the Python client 'kubernetes' is not installed")
    from kubernetes.stream import stream

    room.run_pod("host", "sleep 1000")
    with kubernetes.config.new_client_from_config(str(up.kubeconfig)) as api:
        core = kubernetes.client.CoreV1Api(api)
        shell = stream(
            core.connect_get_namespaced_pod_exec, "host", room.name, command=["sh"], stdin=True, stdout=True,
            stderr=True, tty=False, _preload_content=False,
        )  # fmt: skip
        with contextlib.closing(shell):
            shell.write_stdin("echo out; echo err >&2; exit 7\n")
            shell.run_forever(timeout=30)

            assert shell.read_stdout() == "out\n"
            assert shell.read_stderr() == "err\n"
            assert shell.returncode == 7
        shell.sock.shutdown()  # which its own close leaves out once the server has closed
