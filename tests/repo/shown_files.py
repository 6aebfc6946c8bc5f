"""Put the present text of the files that pages show into the pages: after a path alone on its line comes its content."""

from __future__ import annotations

import re

from workspace import ROOT

SHOWN = re.compile(r"^`([\w./-]+)`:\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def filled(text: str) -> str:
    """Return a page with the files it shows as they are now."""
    return SHOWN.sub(lambda found: f"`{found[1]}`:\n\n```{found[2]}\n{(ROOT / found[1]).read_text()}```", text)


if __name__ == "__main__":
    for page in (ROOT / "docs").rglob("*.md"):
        page.write_text(filled(page.read_text()))
