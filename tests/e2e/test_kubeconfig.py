"""What a running cluster's data folder tells: that it is taken, and how kubectl gets in."""

from __future__ import annotations

import os

import yaml
from local_cluster import HYPERKUBE, free_port, run


def _hyperkube(*words, check=True, **more):
    return run([HYPERKUBE, *words], check=check, **more)


def test_what_is_taken_is_refused_in_one_line(up, scratch):
    same_folder = _hyperkube("up", "--data-dir", up.root, "--secure-port", str(free_port()), check=False)
    same_port = _hyperkube("up", "--data-dir", scratch / "other", "--secure-port", str(up.port), check=False)

    assert same_folder.code == same_port.code == 1
    assert same_folder.out == same_port.out == ""
    assert same_folder.err == (
        f"error: data folder {str(up.root)!r} is in use by process {up.process.pid}"
        f" (stop it with: hyperkube down --data-dir {up.root})\n"
    )
    assert same_port.err == (
        f"error: cannot listen on 127.0.0.1 port {up.port}: Address already in use"
        " (choose another with --secure-port)\n"
    )


def test_kubeconfig_is_printed_and_merged(up, tmp_path):
    target = tmp_path / "config"
    target.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "work",
                "contexts": [{"name": "work", "context": {"cluster": "work", "user": "me"}}],
                "clusters": [{"name": "work", "cluster": {"server": "https://work.example"}}],
                "users": [{"name": "me", "user": {"token": "t"}}],
            }
        )
    )
    env = {**os.environ, "KUBECONFIG": str(target)}

    printed = _hyperkube("kubeconfig", "--data-dir", up.root).out
    _hyperkube("kubeconfig", "--merge", "--data-dir", up.root, env=env)

    assert yaml.safe_load(printed)["clusters"][0]["cluster"]["server"] == f"https://127.0.0.1:{up.port}"
    contexts = run(["kubectl", "config", "get-contexts", "-o", "name"], env=env).out.split()
    assert sorted(contexts) == ["hyperkube", "work"]
    assert run(["kubectl", "config", "current-context"], env=env).out == "hyperkube\n"
    assert "Ready" in run(["kubectl", "get", "nodes"], env=env).out
