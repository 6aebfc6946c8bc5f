# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every API group promises: subclass `ApiContract` and name the plugin class.

A plugin that describes types instead of serving any promises what `DescriptionsContract` says.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from typing import IO, ClassVar

from hyperkube.hookspecs import api as specs
from hyperkube.hookspecs.api import ApiGroupVersion, ApiHooks, ResourceSpec
from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.hookspecs.descriptions import Descriptions
from hyperkube.machinery.schema import resolve
from hyperkube.machinery.schema.fields import List, Map, Struct
from hyperkube.machinery.schema.structs import members
from hyperkube.plugin.loader import PluginHost

_FORKS = """
import json, os, sys, traceback
from hyperkube.plugin import PluginContext
for line in sys.stdin:
    fork = os.fork()
    if not fork:
        try:
            path, script = json.loads(line)
            sys.path[1:1] = path
            exec(script)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(fork, 0)
    print("", flush=True)
"""
"""Runs each line, an import path and a program; what all programs import, core, is imported once for all."""

VERBS = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}


@cache
def _interpreter() -> tuple[IO[str], IO[str]]:
    """Return where to write to and to read from a process without any plugin, which ends with this one."""
    process = subprocess.Popen(
        [sys.executable, "-c", _FORKS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    atexit.register(process.communicate)
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _printed_by(script: str) -> str:
    """Run a program that prints lines in an interpreter that has imported no plugin; return them, or its traceback."""
    programs, output = _interpreter()
    path = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    print(json.dumps([path, script]), file=programs, flush=True)
    return "".join(iter(output.readline, "\n")).strip()


class ApiContract:
    """The promises of `hyperkube.hookspecs.api`, as tests.

    Attributes:
        plugin: the plugin class.
    """

    plugin: ClassVar[type[Plugin]]

    def build(self) -> Plugin:
        """Return the plugin."""
        return self.plugin(PluginContext(name=self.plugin.__name__))

    def versions(self) -> list[ApiGroupVersion]:
        """Return what it serves."""
        host: PluginHost[ApiHooks] = PluginHost("api", specs, [("built", self.build())])
        return [version for versions in host.hook.api_group_versions() for version in versions]

    def specs(self) -> list[ResourceSpec]:
        """Return the resources of all its versions."""
        return [spec for version in self.versions() for spec in version.resources]

    def test_it_serves_something(self) -> None:
        assert self.specs()

    def test_every_spec_is_named_completely(self) -> None:
        for spec in self.specs():
            assert spec.resource.resource, spec
            assert spec.resource.version, spec
            assert spec.kind.kind, spec
            assert spec.singular == spec.singular.lower() != "", spec.resource
            assert spec.verbs or spec.subresources, spec.resource
            assert set(spec.verbs) <= VERBS, spec.resource

    def test_specs_stand_under_their_own_group_and_version(self) -> None:
        for version in self.versions():
            for spec in version.resources:
                assert (spec.resource.group, spec.resource.version) == (version.group, version.version)

    def test_each_resource_is_in_one_spec_only(self) -> None:
        counted = Counter(spec.resource for spec in self.specs())

        assert [resource for resource, count in counted.items() if count > 1] == []

    def test_what_is_kept_says_where_and_what_is_not_says_who_answers(self) -> None:
        for spec in self.specs():
            virtual = spec.create is not None or spec.read is not None
            assert bool(spec.storage_prefix) != virtual, f"{spec.resource}: stored, or answered by a function"

    def test_its_schemas_exist(self) -> None:
        for spec in self.specs():
            if isinstance(spec.schema, str):
                module, _, name = spec.schema.partition(":")
                assert hasattr(importlib.import_module(module), name), spec.schema

    def test_its_schemas_are_not_imported_before_they_are_used(self) -> None:
        modules = sorted({spec.schema.partition(":")[0] for spec in self.specs() if isinstance(spec.schema, str)})
        script = (
            "import sys\n"
            "from hyperkube.plugin import PluginContext\n"
            f"from {self.plugin.__module__} import {self.plugin.__name__} as plugin\n"
            "list(plugin(PluginContext(name='contract')).api_group_versions())\n"
            f"print([name for name in {modules!r} if name in sys.modules])\n"
        )

        printed = _printed_by(script)

        assert printed == "[]", printed

    def test_a_table_has_columns_and_cells_or_neither(self) -> None:
        for spec in self.specs():
            assert bool(spec.columns) == (spec.cells is not None), spec.resource

    def test_a_column_shows_a_field_that_there_is(self) -> None:
        for spec in self.specs():
            for column in spec.columns:
                name, _, path = column.field.rpartition("/")
                schema = resolve(name or spec.schema) if path else None
                for part in path.split(".") if path else ():
                    assert schema is not None, f"{spec.resource}: {column}"
                    field = members(schema)[part]
                    while isinstance(field, List | Map):
                        field = field.items
                    schema = field.schema() if isinstance(field, Struct) else None

    def test_every_subresource_is_served_in_one_way(self) -> None:
        for spec in self.specs():
            for sub in spec.subresources:
                ways = [sub.handler is not None, sub.connect, sub.name == "status" or sub.strategy is not None]
                assert sum(ways) == 1, f"{spec.resource}/{sub.name}"
                assert sub.verbs, f"{spec.resource}/{sub.name}"

    def test_its_bootstrap_objects_are_complete(self) -> None:
        call = getattr(self.build(), "api_bootstrap_objects", None)
        for obj in call() if call else []:
            assert obj["apiVersion"]
            assert obj["kind"]
            assert obj["metadata"]["name"]


class DescriptionsContract:
    """The promises of `api_descriptions`, as tests.

    Attributes:
        plugin: the plugin class.
        described: a definition that it describes.
        field: a field of that.
    """

    plugin: ClassVar[type[Plugin]]
    described: ClassVar[str]
    field: ClassVar[str]

    def build(self) -> Descriptions:
        """Return its descriptions."""
        plugin = self.plugin(PluginContext(name=self.plugin.__name__))
        host: PluginHost[ApiHooks] = PluginHost("api", specs, [("built", plugin)])
        found = host.hook.api_descriptions()
        assert found is not None
        return found

    def test_it_names_its_source_and_always_the_same(self) -> None:
        assert self.build().source == self.build().source != ""

    def test_it_describes_a_type_and_its_fields(self) -> None:
        found = self.build().types([self.described])[self.described]

        assert found.text
        assert found.fields[self.field]
        assert all(isinstance(text, str) and text for text in found.fields.values())

    def test_it_answers_for_what_was_asked_alone(self) -> None:
        unknown = "org.example.nothing.v1.Nothing"

        assert set(self.build().types([self.described, unknown])) == {self.described}

    def test_it_explains_values_for_what_was_asked_alone(self) -> None:
        wanted = {self.described: {"noSuchField": ["NoSuchValue"]}}

        found = self.build().values(wanted)

        assert set(found) <= set(wanted)
        assert not any(found.values())

    def test_it_knows_no_parameters_of_no_operations(self) -> None:
        assert dict(self.build().parameters({})) == {}

    def test_it_names_no_parameter_that_was_not_asked_for(self) -> None:
        wanted = {"listCoreV1NamespacedPod": ["limit"], "noSuchOperation": ["nothing"]}

        for operation, texts in self.build().parameters(wanted).items():
            assert set(texts) <= set(wanted[operation])

    def test_making_it_reads_nothing(self) -> None:
        script = (
            "import sys\n"
            "from hyperkube.plugin import PluginContext\n"
            f"from {self.plugin.__module__} import {self.plugin.__name__} as plugin\n"
            "before = set(sys.modules)\n"
            "plugin(PluginContext(name='contract')).api_descriptions()\n"
            "print(sorted(set(sys.modules) - before))\n"
        )

        printed = _printed_by(script)

        assert printed == "[]", printed
