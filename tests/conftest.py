"""How files of tests are shared out among the processes that run them.

A long file that begins last leaves the others idle. Files that look at the same cluster are one process's: it is
started once, and ends with the last of them.
"""

import pytest

SHARED = (
    *("test_objects.py", "test_console.py", "test_kubectl_matrix.py", "test_streams.py", "test_hello.py"),
    *("test_nodes.py", "test_advice.py", "test_cluster_dns.py", "test_kubeconfig.py", "test_recycling.py"),
)
"""The files whose tests ask for tests/e2e's cluster; one that is missing here starts another one."""
LONGEST = ("test_pages.py", *SHARED, "test_lifecycle.py", "test_small_installs.py", "test_etcd_server.py")


def pytest_collection_modifyitems(items):
    """Begin with the longest files."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Share tests out by files, those of `SHARED` together."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "the shared cluster" if file.rpartition("/")[2] in SHARED else file

    return Scheduling(config, log)
