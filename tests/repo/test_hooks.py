"""Every hook is documented in the house's frame, has a contract class, and stands in the reference."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest
from hook_reference import PATH, render
from hyperkube_command.plugins.catalog import SPECIFICATIONS

HOOKS = [
    pytest.param(family, name, function, id=name)
    for family, module in SPECIFICATIONS.items()
    for name, function in inspect.getmembers(importlib.import_module(module), inspect.isfunction)
    if hasattr(function, "hyperkube_spec")
]
CONTRACTS = {family: f"hyperkube.testing.contracts.{family}" for family in SPECIFICATIONS} | {
    "scheduler": "hyperkube_testing.scheduling.scheduler",  # it needs numpy and a node table, which core does not have
    "storage": "hyperkube_testing.storage.store",
    "api": "hyperkube_testing.api",
    "cloud": "hyperkube_testing.cloud",
    **{family: f"hyperkube_testing.node_contracts.{family}" for family in ("runtime", "network", "volume", "proxier")},
}
"""Kits of their own where a family's contract is long or of a few plugins' interest: core is for what all need."""


@pytest.mark.parametrize(("family", "name", "function"), HOOKS)
def test_its_docstring_has_the_frame(family, name, function):
    text = inspect.getdoc(function) or ""
    first, _, rest = text.partition("\n")

    assert re.match(r"[A-Z][a-z]+\b.*\.$", first), "one imperative line that ends with a period"
    assert "Called:" in rest
    assert "Must:" in rest


@pytest.mark.parametrize(("family", "name", "function"), HOOKS)
def test_its_name_says_its_family(family, name, function):
    words = {"scheduler": "scheduling"}

    assert name.startswith(f"{words.get(family, family)}_")


@pytest.mark.parametrize(("family", "name", "function"), HOOKS)
def test_its_arguments_are_typed(family, name, function):
    signature = inspect.signature(function)

    assert signature.return_annotation is not inspect.Signature.empty
    assert all(parameter.annotation is not parameter.empty for parameter in signature.parameters.values())


@pytest.mark.parametrize("family", sorted(SPECIFICATIONS))
def test_its_family_has_a_protocol_of_how_hosts_call_the_hooks(family):
    module = importlib.import_module(SPECIFICATIONS[family])
    (protocol,) = [each for name, each in inspect.getmembers(module, inspect.isclass) if name.endswith("Hooks")]
    hooks = {param.values[1]: param.values[2] for param in HOOKS if param.values[0] == family}

    methods = {name: inspect.signature(each) for name, each in vars(protocol).items() if name in hooks}

    assert set(methods) == set(hooks), "one method per hook"
    assert methods == {name: _as_called(function) for name, function in hooks.items()}


def _as_called(hook):
    """Return the signature by which a host calls a hook: by keyword, with a list of what the plugins return."""
    signature = inspect.signature(hook)
    by_keyword = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()]
    returns = signature.return_annotation
    if not hook.hyperkube_spec["firstresult"] and returns != "None":
        returns = f"list[{returns.removesuffix(' | None')}]"
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return signature.replace(parameters=[own, *by_keyword], return_annotation=returns)


@pytest.mark.parametrize("family", sorted(SPECIFICATIONS))
def test_its_family_exports_a_contract_class_with_tests(family):
    module = importlib.import_module(CONTRACTS[family])
    classes = [each for name, each in inspect.getmembers(module, inspect.isclass) if name.endswith("Contract")]

    assert classes, f"{CONTRACTS[family]} exports no class named …Contract"
    assert any(name.startswith("test_") for each in classes for name, _ in inspect.getmembers(each))


def test_the_reference_page_is_current():
    assert PATH.read_text() == render(), "run ./dev docs"


@pytest.mark.parametrize(("family", "name", "function"), HOOKS)
def test_the_reference_page_shows_the_types_of_its_signature(family, name, function):
    (shown,) = re.findall(rf"^### `{name}\((.*)\) -> (.+)`$", PATH.read_text(), re.MULTILINE)
    parameters = [f"{each.name}: {each.annotation}" for each in inspect.signature(function).parameters.values()]

    assert shown == (", ".join(parameters), str(inspect.signature(function).return_annotation))
