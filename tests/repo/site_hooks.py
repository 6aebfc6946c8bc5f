"""What the site of the documentation has beyond the files of docs/: the README as its first page, and the sources that pages link to.

MkDocs calls the functions whose names begin with ``on_`` (https://www.mkdocs.org/dev-guide/plugins/#events).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()([^)#\s]+)(?=(?:#[\w-]+)?\))")
SECTIONS = ["Tutorial", "How to", "Explanation", "Reference", "Decisions"]
STYLE = """
.wy-nav-content { max-width: 75em }
.wy-table-responsive table td { white-space: normal }
.wy-table-responsive table td code { white-space: nowrap }
"""
MOVED = {ROOT / "README.md": "index.md", ROOT / "CHANGELOG.md": "changelog.md", ROOT / "SECURITY.md": "security.md"}
LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".md": "markdown", ".json": "json", "": "sh"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that do not stand in docs/: those of the project's root, and one for each source or folder that is linked to."""
    config.extra_css.append("site.css")
    files.append(File.generated(config, "site.css", content=STYLE))
    for path, place in MOVED.items():
        files.append(File.generated(config, place, content=path.read_text()))
    pages = [Path(file.abs_src_path) for file in files.documentation_pages() if file.abs_src_path]
    linked = {path for page in [*pages, *MOVED] for path in _links(page) if path.exists()}
    for path in sorted(linked):
        if path not in MOVED and not path.is_relative_to(DOCS):
            files.append(File.generated(config, _place(path), content=_source_page(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page's text with its links as the site has them.

    Args:
        markdown: the page's text, whose links lead through the source tree.
        page: the page.
        config: unused.
        files: unused.
    """
    place = Path(page.file.src_uri)
    if place.parts[0] == "source":
        return markdown
    origin = next((path for path, moved in MOVED.items() if moved == page.file.src_uri), DOCS / place)

    def led(match: re.Match[str]) -> str:
        target = match[0]
        path = (origin.parent / target).resolve()
        return target if "://" in target or not path.exists() else os.path.relpath(_place(path), place.parent)

    return LINK.sub(led, markdown)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Put the sections into a reader's order, without the sources: they are reached by links and by search."""
    pages = [item for item in nav.items if not item.is_section]
    sections = {item.title: item for item in nav.items if item.is_section}
    front = [page for page in pages if page.is_page and page.is_homepage]
    nav.items = [*front, *(sections[title] for title in SECTIONS), *(page for page in pages if page not in front)]
    return nav


def _links(page: Path) -> Iterator[Path]:
    for target in LINK.findall(page.read_text()):
        if "://" not in target:
            yield (page.parent / target).resolve()


def _place(path: Path) -> str:
    """Return where a file of the tree is on the site, relative to its root."""
    if path.is_relative_to(DOCS):
        return str(path.relative_to(DOCS))
    return MOVED.get(path) or f"source/{path.relative_to(ROOT)}.md"


def _source_page(path: Path) -> str:
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if _shown(each))
    return f"# {path.relative_to(ROOT)}\n" + "".join(_listing(each, heading=path.is_dir()) for each in files)


def _shown(path: Path) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(ROOT).parts)
    return path.is_file() and path.suffix in LANGUAGES and not hidden


def _listing(path: Path, *, heading: bool) -> str:
    title = f"\n## {path.relative_to(ROOT)}\n" if heading else ""
    fence = "~" * 8
    return f"{title}\n{fence} {LANGUAGES.get(path.suffix, 'text')}\n{path.read_text()}{fence}\n"
