"""The order of the tests that are shared out by files: a long file that begins last leaves the other workers idle."""

LONGEST = ("test_lifecycle.py", "test_pages.py", "test_small_installs.py", "test_hello.py", "test_etcd_server.py")


def pytest_collection_modifyitems(items):
    """Begin with the longest files."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
