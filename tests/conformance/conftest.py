"""Let the conformance tests import the reader of reports beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
