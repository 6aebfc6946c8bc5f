"""The rig of this folder's tests is a module of it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
