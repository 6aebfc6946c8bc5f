"""Let the conformance tests import the reader of reports beside them, and be asked for all scenarios of the proxy."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser):
    parser.addoption(
        "--all-proxy-scenarios", action="store_true", help="replay every recording of kube-proxy, not a chosen dozen"
    )
