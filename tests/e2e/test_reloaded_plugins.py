"""`hyperkube up --watch`: an author edits a plugin, and the next kubectl meets the new one; the cluster stays."""

from __future__ import annotations

from local_cluster import HYPERKUBE, LocalCluster, eventually, reading, run

INFO = "Metadata-Version: 2.1\nName: require-owner\nVersion: 0.1.0\n"
ENTRY_POINTS = "[hyperkube.admission]\nRequireOwner = require_owner:RequireOwner\n"
OLD, NEW = 'is missing")', 'is missing: say whose pod this is")'


def test_an_edited_plugin_is_met_by_the_next_request_and_everything_else_stays(scratch, monkeypatch):
    folder = scratch / "require-owner"
    run([HYPERKUBE, "plugins", "new", "admission", "require-owner", "--folder", folder])
    info = folder / "src" / "require_owner-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(INFO)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    module = folder / "src" / "require_owner" / "__init__.py"
    sound = module.read_text()
    flags = ("--watch", str(folder), "--enable-admission-plugins=RequireOwner")

    with LocalCluster(scratch / "watched", *flags).running() as cluster:
        refused = lambda: cluster.kubectl("run", "other", "--image=host", check=False).err  # noqa: E731
        says = lambda text: eventually(lambda: any(text in line for line in cluster.output), why=text)  # noqa: E731
        cluster.kubectl("run", "web", "--image=host", "--labels=owner=me", "--command", "--", "sleep", "600")
        cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
        before = cluster.get("pod", "web")
        assert "label 'owner' is missing\n" in refused()

        with reading(cluster.open("get", "configmaps", "--watch-only", "--output-watch-events")) as watch:
            module.write_text(sound.replace(OLD, NEW))
            says("reloaded RequireOwner: apiserver started anew")
            assert "label 'owner' is missing: say whose pod this is" in refused()
            watch.process.wait(30)

        module.write_text(sound + "\n\nprint(nothing)\n")
        says("not reloaded, the old one goes on: admission 'RequireOwner' of require-owner: name 'nothing' is not")
        assert any(f"{module}:{sound.count(chr(10)) + 3})" in line for line in cluster.output)
        assert "label 'owner' is missing: say whose pod this is" in refused()

        (module.parent / "flags.toml").touch()
        says("flags are read at the start")
        after = cluster.get("pod", "web")

        cluster.kubectl("run", "next", "--image=host", "--labels=owner=me", "--command", "--", "sleep", "600")
        cluster.kubectl("wait", "--for=condition=Ready", "pod/next", "--timeout=60s")

    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["containerStatuses"] == before["status"]["containerStatuses"]


def test_a_folder_without_plugins_is_one_line(scratch):
    refused = run([HYPERKUBE, "up", "--data-dir", scratch / "none", "--watch", scratch], check=False)

    assert refused.code == 1
    assert refused.err.startswith(f"error: no installed plugin of a server is imported from {str(scratch)!r}")
