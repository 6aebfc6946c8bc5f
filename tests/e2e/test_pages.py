"""README, tutorial and how-to pages, typed as they stand there into a fresh clone on a fresh machine."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_network import NOBODY, missing
from page_scripts import Rules, script_of

ROOT = Path(__file__).resolve().parents[2]
FRESH = "plugins/runtime/process/tests/fresh_machine.py"
SECONDS = 600
pytestmark = pytest.mark.timeout(3 * SECONDS)
FIRST = [ROOT / "README.md", ROOT / "docs/tutorial/first-admission-plugin.md"]
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
WALKS = sorted((ROOT / "docs" / "explanation" / "from-the-source").glob("*.md"))
EXAMPLES = ROOT / "examples" / "README.md"
RULES = Rules(
    skipped={
        "./dev test": "it is what runs this: tests/repo/test_dev.py",
        "./dev scale": "minutes of a whole machine: tests/perf/test_scale.py has a small run, and reads these lines",
        "./dev pytest /tmp/": "what is generated for every family: tests/integration/test_plugin_kit.py",
        "pip install 'hyperkube-api-descriptions": "110 MB, from an index: tests/integration/test_wheelhouse.py",
        "kubectl delete --raw '/api/v1/namespaces/shop/configmaps/prices?ignoreStoreReadError": "nothing is damaged here",
    },
    results={"hyperkube snapshot diff": 1},
    together=(
        frozenset({"serve-removed-versions.md", "write-a-controller.md", "write-a-scheduling-plugin.md"}),
        frozenset(
            {"write-a-cloud-provider.md", "write-a-command.md", "write-a-csi-driver.md", "write-a-pod-network.md"}
            | {"write-a-proxier.md", "write-a-server.md", "write-a-volume-kind.md", "write-an-addon.md"}
            | {"write-an-api-group.md", "write-an-authenticator.md"}
        ),
        frozenset({"controller-manager.md", "kubelet.md"}),
    ),
)
TYPED_ELSEWHERE = {
    "run-the-servers-as-processes.md": "tests/e2e/test_server_processes_page.py",
    "install-from-wheels.md": "tests/integration/test_wheelhouse.py",
    "run-as-a-service.md": "tests/e2e/test_service.py",
}
AS_GENERATED = frozenset(
    f"write-{family}.md"
    for family in (
        *(
            "a-cloud-provider",
            "a-command",
            "a-container-runtime",
            "a-csi-driver",
            "a-pod-network",
            "a-proxier",
            "a-server",
        ),
        *("a-storage-backend", "a-volume-kind", "an-addon", "an-api-group", "an-authenticator", "an-authorizer"),
    )
)
"""Pages around the code that ``plugins new`` writes: tests/repo/test_docs.py compares it, tests/integration/test_plugin_kit.py
tests it. Each starts a cluster with the plugin: they are typed beside the others."""
ENTER = """
ip link set lo up
mount -t proc proc /proc
mount -t tmpfs -o mode=1777 tmpfs /tmp
{clone}/.venv/bin/python {clone}/{fresh} {folder} {user} bash -e {folder}/script.sh
"""
"""As in `own_network`, the shell stays, so that all processes end with it."""


@pytest.fixture(scope="module")
def clone():
    """A clone of the working tree, set up as its first command does it; not below ``/tmp``, which is the pages' own."""
    if missing():
        pytest.skip(missing())
    folder = Path(tempfile.mkdtemp(prefix="hkpages-", dir="/var/tmp"))
    folder.chmod(0o755)
    place = folder / "hyperkube"
    place.mkdir()
    files = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    files += b"".join(b"%b\0" % os.fsencode(path.relative_to(ROOT)) for path in _bytecode())
    archive = ["tar", "--null", "--ignore-failed-read", "-T", "-", "-cf", "-"]
    packed = subprocess.run(archive, cwd=ROOT, input=files, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-xf", "-"], cwd=place, input=packed, check=True)
    _make_environment(place)
    done = subprocess.run(
        ["./dev", "setup"], cwd=place, capture_output=True, text=True, check=False, env=_environment(Path.home())
    )
    assert done.returncode == 0, done.stderr
    yield place
    shutil.rmtree(folder)


def _bytecode() -> Iterator[Path]:
    """Yield what was compiled of sources and libraries: a clone compiles the same, which takes half of its set-up."""
    for family in ("core", "admission", "schedulers", "cloudproviders", "plugins"):
        yield from (path for path in (ROOT / family).rglob("src/**/__pycache__") if path.is_dir())
    libraries = ROOT / ".venv" / "lib"
    yield from (path for path in libraries.rglob("__pycache__") if path.is_dir())


def _make_environment(place: Path) -> None:
    """Make the clone's environment as far as ``./dev`` has made that of these tests: with uv, and nothing installed."""
    venv.create(place / ".venv", symlinks=True)
    shutil.copy2(Path(sys.executable).with_name("uv"), place / ".venv" / "bin")


def _environment(folder: Path) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("KUBE", "HYPERKUBE", "VIRTUAL"))}
    return {**plain, "HOME": str(folder)}


def type_pages(clone, name, user, pages):
    """Type the commands of pages on a fresh machine; return what the terminals showed."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=clone.parent))
    (folder / "script.sh").write_text(script_of(pages, RULES))
    (folder / "enter.sh").write_text(ENTER.format(clone=clone, fresh=FRESH, folder=folder, user=user))
    for path in (folder, clone):
        subprocess.run(["chown", "-R", f"{user}:{user}", path], check=True)
    environment = {**_environment(folder), "UV_OFFLINE": "1"}  # whatever comes from an index was installed before
    environment["PATH"] = f"{clone / '.venv' / 'bin'}:{environment['PATH']}"
    words = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "bash", "-e", str(folder / "enter.sh")]
    output = folder / "output.txt"
    with output.open("wb") as log, contextlib.suppress(subprocess.TimeoutExpired):  # what it shows ends in the middle
        subprocess.run(
            words, cwd=clone, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    text = output.read_text()
    assert "== end" in text, text[-6000:]
    return text


@pytest.mark.parametrize("user", ["0", NOBODY], ids=["root", "user"])
def test_readme_and_tutorial(clone, user):
    text = type_pages(clone, f"first-{user}", user, FIRST)

    assert "hello from hello-" in text
    assert "is unknown (" in text, "the tutorial's last step names what is installed"
    assert re.search(r"\b\d+ passed in ", text), "the tutorial's tests"


def test_every_how_to(clone):
    pages = [page for page in HOW_TO if page.name not in TYPED_ELSEWHERE.keys() | AS_GENERATED]
    text = type_pages(clone, "how-to", NOBODY, pages)

    assert "scheduler_schedule_attempts_total" in text


def test_walks_through_the_source_and_examples(clone):
    text = type_pages(clone, "walks", NOBODY, [*WALKS, EXAMPLES])

    assert "acquireTime" in text, "the controller manager's lease"
    assert "[+]poststarthook/" in text, "what the API server says of its start"
    assert '"kubeletconfig"' in text
    assert "website.example.com/hello" in text


def test_every_page_for_authors(clone):
    pages = [page for page in HOW_TO if page.name in AS_GENERATED]
    text = type_pages(clone, "authors", "0", pages)

    assert [page.name for page in pages if f"== {page.name}" not in text] == []
