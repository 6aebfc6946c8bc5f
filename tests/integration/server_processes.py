"""Servers as processes of their own, for tests that end them in every way: a real etcd, and our servers."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from hyperkube_testing.peers.ports import free_port

from hyperkube.testing.waiting import eventually  # noqa: F401 -- for the tests of these servers

BIN = Path(sys.executable).parent
START_SECONDS = 120.0


class Process:
    """A program that can be stopped, killed and started again."""

    def __init__(self, folder, name):
        self.log = folder / f"{name}.log"
        self.process = None

    def command(self):
        raise NotImplementedError

    def environment(self):
        """Return the variables that it sees."""
        return dict(os.environ)

    def answers(self):
        raise NotImplementedError

    def launch(self):
        """Start without waiting until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, cwd=self.log.parent, env=self.environment()
            )

    def start(self):
        self.launch()
        self.wait()
        return self

    def wait(self):
        """Wait until it answers."""
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            assert self.process.poll() is None, f"{self.command()[0]} ended:\n{self.tail()}"
            assert time.monotonic() < deadline, f"{self.command()[0]} does not answer:\n{self.tail()}"
            time.sleep(0.03)

    def tail(self):
        return self.log.read_text(errors="replace")[-3000:]

    def kill(self):
        """End it without any warning."""
        self.process.kill()
        self.process.wait(10)

    def stop(self):
        """End it politely."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()


class Etcd(Process):
    """One etcd, alone in its cluster."""

    def __init__(self, folder):
        super().__init__(folder, "etcd")
        self.data = folder / "etcd-data"
        self.url = f"http://127.0.0.1:{free_port()}"
        self.peer = f"http://127.0.0.1:{free_port()}"

    def command(self):
        return [
            "etcd", f"--data-dir={self.data}", "--name=one", "--logger=zap", f"--listen-client-urls={self.url}",
            f"--advertise-client-urls={self.url}", f"--listen-peer-urls={self.peer}",
            f"--initial-advertise-peer-urls={self.peer}", f"--initial-cluster=one={self.peer}",
            "--heartbeat-interval=20", "--election-timeout=200",
        ]  # fmt: skip

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=2) as answer:
                return b"true" in answer.read()
        except (OSError, http.client.HTTPException):
            return False

    def restore(self, snapshot, scratch):
        """Make the data of a gzipped snapshot this etcd's own."""
        plain = scratch / "snapshot.db"
        plain.write_bytes(gzip.decompress(snapshot.read_bytes()))
        words = ["etcdctl", "snapshot", "restore", str(plain), "--data-dir", str(self.data), "--name", "one"]
        words += [f"--initial-cluster=one={self.peer}", f"--initial-advertise-peer-urls={self.peer}"]
        environment = {**os.environ, "ETCDCTL_API": "3"}
        subprocess.run(words, env=environment, check=True, capture_output=True, timeout=60)

    def ctl(self, *words):
        """Run etcdctl; return what it printed."""
        environment = {**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": self.url}
        done = subprocess.run(
            ["etcdctl", *words], env=environment, check=True, capture_output=True, timeout=30, text=True
        )
        return done.stdout

    def registry_keys(self):
        return [line for line in self.ctl("get", "/registry", "--prefix", "--keys-only").splitlines() if line]

    def value(self, key):
        """Return the stored bytes of one key."""
        environment = {**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": self.url}
        words = ["etcdctl", "get", key, "--print-value-only"]
        return subprocess.run(words, env=environment, check=True, capture_output=True, timeout=30).stdout.removesuffix(
            b"\n"
        )


class ApiServer(Process):
    """Our API server with a plain HTTP port."""

    def __init__(self, folder, *flags, name="apiserver", secure=False):
        super().__init__(folder, name)
        self.port = free_port()
        self.secure_port = free_port() if secure else 0
        self.url = f"http://127.0.0.1:{self.port}"
        self.certificates = folder / f"{name}-pki"
        self.flags = flags

    def command(self):
        return [
            str(BIN / "hyperkube"), "apiserver", f"--insecure-port={self.port}", f"--secure-port={self.secure_port}",
            "--bind-address=127.0.0.1", f"--cert-dir={self.certificates}", *self.flags,
        ]  # fmt: skip

    def answers(self):
        try:
            return self.request("GET", "/readyz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def request(self, method, path, body=None, timeout=10, **headers):
        """Return status and document (or text) of an answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, _document(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _document(error)

    def get(self, path):
        return self.request("GET", path)[1]

    def post(self, path, body):
        return self.request("POST", path, body)

    def put(self, path, body):
        return self.request("PUT", path, body)

    def delete(self, path):
        return self.request("DELETE", path)

    def watch(self, path, seconds=30):
        """Yield the events of a watch until it ends."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=seconds) as answer:
            for line in answer:
                yield json.loads(line)


def _document(answer):
    text = answer.read()
    return json.loads(text) if "json" in (answer.headers.get("Content-Type") or "") else text.decode()


@contextlib.contextmanager
def running(*processes):
    """Start the processes, stop them in the end in the reverse order."""
    try:
        for process in processes:
            process.start()
        yield processes
    finally:
        for process in reversed(processes):
            process.stop()


def need_etcd():
    """Skip the test where etcd or its client is not installed."""
    for program, package in (("etcd", "etcd-server"), ("etcdctl", "etcd-client")):
        if shutil.which(program) is None:
            pytest.skip(f"the program {program} is not installed (Debian package {package})")


def configmap(name, namespace="default", **data):
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}
