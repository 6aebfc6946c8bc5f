"""The documentation as a site: all pages, the sources they link to, a search that works, and nothing from elsewhere."""

from __future__ import annotations

import json
import logging
import re

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from workspace import ROOT

LOADED = re.compile(r"""<(?:script|img|link)\b[^>]*\b(?:src|href)=["'](?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of a site built strictly: a link or an anchor that leads nowhere fails here."""
    folder = tmp_path_factory.mktemp("site")
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    build(load_config(str(ROOT / "tests/repo/site.yml"), site_dir=str(folder), strict=True))
    return folder


def test_every_page_of_the_documentation_is_on_it(site):
    pages = (ROOT / "docs").rglob("*.md")
    places = [page.relative_to(ROOT / "docs").with_suffix(".html") for page in pages]

    assert [str(place) for place in places if not _built(site, place)] == []


def _built(site, place):
    return (site / place).exists() or (site / place.with_name("index.html")).exists()


def test_it_begins_with_the_readme(site):
    text = (site / "index.html").read_text()

    assert "Kubernetes in Python" in text
    assert 'href="tutorial/first-admission-plugin.html"' in text


def test_links_into_the_tree_lead_to_the_source(site):
    folder = (site / "source" / "examples" / "require_team_label.html").read_text()

    assert "examples/require_team_label/pyproject.toml" in folder
    assert (
        'href="../source/examples/require_team_label.html"'
        in (site / "tutorial/first-admission-plugin.html").read_text()
    )


def test_its_search_finds_a_flag_and_a_hook(site):
    found = json.loads((site / "search" / "search_index.json").read_text())["docs"]

    assert any(
        "--encryption-provider-config" in entry["text"] and "kube-apiserver" in entry["location"] for entry in found
    )
    assert any(entry["location"].startswith("reference/hooks") and "balancers" in entry["text"] for entry in found)


def test_no_page_loads_anything_from_another_host(site):
    assert [page.name for page in site.rglob("*.html") if LOADED.search(page.read_text())] == []
