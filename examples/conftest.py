"""Let the examples' tests import the examples without installing them."""

import sys
from pathlib import Path

sys.path[:0] = [str(folder) for folder in sorted(Path(__file__).parent.glob("*/src"))]
