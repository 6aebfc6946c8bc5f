"""Let the tests here import the worlds and the references beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
