"""Definitions of resources bring patterns and paths; none of them takes longer than what it is held against."""

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import Call, Hostile, World, quickly


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("patterns"))
    yield Hostile(world)
    world.close()


def named(name, **more):
    return {"metadata": {"name": name}, **more}


class TestPatterns:
    DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    WIDGETS = "/apis/patterns.example.com/v1/namespaces/a/widgets"
    PATTERNS = (
        "^(a+)+$",
        "^(a|a)*$",
        "^(a|aa)+$",
        "(x+x+)+y",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(.*a){20}",
        "^(a?){50}a{50}$",
    )

    @pytest.fixture(scope="class")
    @classmethod
    def widgets(cls, hostile):
        fields = {f"f{number}": {"type": "string", "pattern": pattern} for number, pattern in enumerate(cls.PATTERNS)}
        spec = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": spec}}
        names = {"plural": "widgets", "kind": "Widget"}
        made = {"group": "patterns.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
        hostile.ask("POST", cls.DEFINITIONS, named("widgets.patterns.example.com", spec=made))
        for _ in range(100):
            if hostile.world.ask(Call("admin", "GET", cls.WIDGETS)).status == 200:
                break
            time.sleep(0.1)
        return cls.WIDGETS

    @pytest.mark.parametrize("number", range(len(PATTERNS)), ids=PATTERNS)
    def test_no_pattern_takes_longer_than_its_text_is_long(self, hostile, widgets, number):
        text = "a" * 5000 + "x" * 5000 + "!"
        body = {"apiVersion": "patterns.example.com/v1", "kind": "Widget", **named("w", spec={f"f{number}": text})}
        with hostile.patiently():
            status, answer = quickly(lambda: hostile.ask("POST", f"{widgets}?dryRun=All", body))

        assert status in {201, 422}
        assert status == 201 or "should match" in answer["message"]

    @pytest.mark.parametrize(
        "pattern", ["(", "a{1001}", "(?=a)", "\\1", "(a){2}{1000}{1000}", "(" * 10_000, "[" * 10_000]
    )
    def test_a_pattern_that_go_would_not_read_is_refused(self, hostile, pattern):
        schema = {"type": "object", "properties": {"f": {"type": "string", "pattern": pattern}}}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"plural": "others", "kind": "Other"}
        made = {"group": "patterns.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
        with hostile.patiently():
            status, answer = quickly(
                lambda: hostile.ask("POST", self.DEFINITIONS, named("others.patterns.example.com", spec=made))
            )

        assert status == 422
        assert "must be a valid regular expression" in answer["message"]

    @pytest.mark.parametrize(
        "path", [".a" * 50_000, "[" * 50_000, ".a[0]" * 20_000, '.a[?(@.b=="c")]' * 5000, "." * 90_000, ".a[?(" * 9000]
    )
    def test_a_column_of_any_path_is_taken_or_refused(self, hostile, path):
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}},
                   "additionalPrinterColumns": [{"name": "x", "type": "string", "jsonPath": path}]}  # fmt: skip
        names = {"plural": "columns", "kind": "Column"}
        made = {"group": "patterns.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
        with hostile.patiently():
            status, _ = quickly(
                lambda: hostile.ask(
                    "POST", f"{self.DEFINITIONS}?dryRun=All", named("columns.patterns.example.com", spec=made)
                )
            )

        assert status in {201, 422}
