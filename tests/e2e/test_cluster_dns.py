"""Names of a local cluster: what glibc and musl find from within a pod, and what anybody may ask."""

from __future__ import annotations

import shutil
import socket
import subprocess

import pytest
from local_cluster import eventually

ZONE = "cluster.local"


ASKER = """
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>

int main(int count, char **names) {
    for (int i = 1; i < count; i++) {
        struct addrinfo hints, *found;
        char text[64] = "nothing";
        memset(&hints, 0, sizeof hints);
        hints.ai_family = AF_INET;
        if (!getaddrinfo(names[i], 0, &hints, &found))
            inet_ntop(AF_INET, &((struct sockaddr_in *)found->ai_addr)->sin_addr, text, sizeof text);
        puts(text);
    }
}
"""

LINKERS = {"gcc": b"/ld-linux-", "musl-gcc": b"/lib/ld-musl-"}
"""Of each compiler, the loader that its programs name: it tells glibc and musl apart."""


def _question(name):
    parts = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return b"\1\2\1\0\0\1\0\0\0\0\0\0" + parts + b"\0\0\1\0\1"


def _code(address, port, name):
    """Return the outcome of a question."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(20)
        client.connect((address, port))
        client.send(_question(name))
        return client.recv(512)[3] & 15


def test_the_service_kube_dns_answers(up):
    service = up.get("service", "kube-dns", namespace="kube-system")
    endpoints = eventually(lambda: up.find("endpointslice", "kube-dns-hyperkube", namespace="kube-system"))
    address = service["spec"]["clusterIP"]

    assert [(row["name"], row["port"], row["protocol"]) for row in service["spec"]["ports"]] == [
        ("dns", 53, "UDP"),
        ("dns-tcp", 53, "TCP"),
    ]
    assert address.endswith(".128.10")
    place, port = endpoints["endpoints"][0]["addresses"][0], endpoints["ports"][0]["port"]
    assert _code(place, port, f"kubernetes.default.svc.{ZONE}") == 0
    assert _code(place, port, f"nobody.default.svc.{ZONE}") == 3


def test_a_pod_finds_services_by_name(room):
    room.kubectl("create", "service", "clusterip", "web", "--tcp=80")
    address = room.get("service", "web")["spec"]["clusterIP"]
    script = "getent hosts web; getent hosts web.$0; getent hosts kubernetes.default; cat /etc/resolv.conf"
    room.kubectl("run", "asker", "--image=host", "--restart=Never", "--command", "--", "sh", "-c", script, room.name)
    eventually(lambda: room.get("pod", "asker")["status"]["phase"] == "Succeeded", why="the pod asks")

    told = room.kubectl("logs", "asker").out
    if "nameserver 127." not in told or "search" not in told:
        pytest.skip("pods have no resolver file of their own here")
    assert f"search {room.name}.svc.{ZONE} svc.{ZONE} {ZONE}" in told
    assert [line.split()[0] for line in told.splitlines()[:2]] == [address, address]
    assert f"kubernetes.default.svc.{ZONE}" in told


@pytest.mark.parametrize("compiler", LINKERS)
def test_each_libc_finds_services_by_name(room, tmp_path, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source, program = tmp_path / "asker.c", tmp_path / "asker"
    source.write_text(ASKER)
    subprocess.run([compiler, "-o", program, source], check=True)
    assert LINKERS[compiler] in program.read_bytes(), "the program is run by that libc's loader"
    room.kubectl("create", "service", "clusterip", "web", "--tcp=80")
    address = room.get("service", "web")["spec"]["clusterIP"]
    names = ["web", f"web.{room.name}", f"web.{room.name}.svc.{ZONE}", f"nobody.{room.name}.svc.{ZONE}"]
    script = f"{program} {' '.join(names)}; cat /etc/resolv.conf"
    room.kubectl("run", "asker", "--image=host", "--restart=Never", "--command", "--", "sh", "-c", script)
    eventually(lambda: room.get("pod", "asker")["status"]["phase"] == "Succeeded", why="the pod asks")

    told = room.kubectl("logs", "asker").out
    if "nameserver 127." not in told:
        pytest.skip("pods have no resolver file of their own here")
    assert told.splitlines()[:4] == [address, address, address, "nothing"]
