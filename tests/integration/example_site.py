"""A site into which examples are installed as wheels, servers that run there, and the API as they serve it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import urllib.error
import urllib.request
from pathlib import Path

from hyperkube.machinery.clock import SystemClock

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
UV = Path(sys.executable).with_name("uv")
READY_SECONDS = 60


class Site:
    """An environment on top of the running one, into which examples are installed as wheels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "venv" / "bin" / "python"
        self.clock = SystemClock()
        self.run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv")
        inner = next((folder / "venv" / "lib").glob("python*/site-packages"))
        below = sysconfig.get_path("purelib")
        (inner / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n")

    def run(self, *words: object) -> None:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def install(self, name: str) -> None:
        wheels = self.folder / "wheels"
        self.run(UV, "build", "--quiet", "--wheel", "--out-dir", wheels, EXAMPLES / name)
        self.run(UV, "pip", "install", "--quiet", "--no-deps", "--python", self.python, *wheels.glob(f"{name}-*.whl"))

    def uninstall(self, name: str) -> None:
        self.run(UV, "pip", "uninstall", "--quiet", "--python", self.python, name.replace("_", "-"))

    def start(self, server: str, *flags: str, **environment: str) -> subprocess.Popen[str]:
        command = [str(self.python), "-m", "hyperkube.command.main", server, *flags]
        with (self.folder / f"{server}.log").open("a") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, text=True, env={**os.environ, **environment})

    def refusal(self, server: str, *flags: str) -> str:
        command = [str(self.python), "-m", "hyperkube.command.main", server, *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 1, done
        return done.stderr.strip()

    def output(self, *words: str) -> str:
        command = [str(self.python), "-m", "hyperkube.command.main", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout

    def wait(self, condition, what):
        deadline = self.clock.monotonic() + READY_SECONDS
        while not (found := condition()):
            if self.clock.monotonic() > deadline:
                logs = "\n".join(f"{path.name}: {path.read_text()[-2000:]}" for path in self.folder.glob("*.log"))
                raise AssertionError(f"waited in vain for {what}\n{logs}")
            self.clock.sleep(0.02)
        return found


class Api:
    """The API server's plain port."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            self.url + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()
        except OSError as error:
            return 0, str(error).encode()

    def get(self, path):
        status, body = self.ask("GET", path)
        return json.loads(body) if status == 200 else None

    def create(self, path, obj):
        status, body = self.ask("POST", path, obj)
        return status, json.loads(body)


def end(process):
    process.terminate()
    process.wait(10)


def server_flags(port):
    return (
        "--storage-backend=memory",
        "--secure-port=0",
        f"--insecure-port={port}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--enable-admission-plugins=RequireTeamLabel",
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
    )


def pod(name, **labels):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "c", "image": "any"}]},
    }


def node(name, **labels):
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "100"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def manager_flags(api):
    return (f"--master={api.url}", "--leader-elect=false", "--secure-port=0")
