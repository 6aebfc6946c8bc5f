"""Every flag of every server and plugin has help, a readable default and one meaning, and the plugin that has it reads it."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import MISSING
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from hyperkube_lib.component_base.compatibility import DEFAULTS as RELEASES
from workspace import ROOT, distributions

from hyperkube.command.main import server_command, servers
from hyperkube.hookspecs.settings import defaults_of
from hyperkube.plugin.flags import KINDS, plugin_flags, setting_of

OF_1_36 = Path(__file__).with_name("flags_of_1_36.toml")
SERVERS = tuple(servers())
COMMANDS = {word: server_command(word) for word in SERVERS}
FLAGS = [
    pytest.param(flag, id=f"{word}/{flag.name}") for word, command in COMMANDS.items() for flag in command.all_flags()
]
PLUGINS = [
    pytest.param(command, plugin, id=f"{word}/{plugin.family}.{plugin.name}")
    for word, command in COMMANDS.items()
    for plugin in plugin_flags(command.name, command.families)
]


@pytest.mark.parametrize("flag", FLAGS)
def test_it_has_help_in_the_houses_style(flag):
    assert flag.help
    assert not flag.help.endswith(".")
    assert flag.section


@pytest.mark.parametrize("flag", FLAGS)
def test_its_default_can_be_read(flag):
    assert flag.kind in KINDS.values()
    assert flag.default_value == flag.kind.convert(flag.default_value)


@pytest.mark.parametrize("word", SERVERS)
def test_no_spelling_means_two_things(word):
    spellings = [name for flag in COMMANDS[word].all_flags() for name in (flag.name, *flag.aliases)]

    assert sorted(spellings) == sorted(set(spellings))


@pytest.mark.parametrize(("server", "flags"), tomllib.loads(OF_1_36.read_text()).items())
def test_a_command_line_of_1_36_is_read(server, flags):
    (command,) = (command for command in COMMANDS.values() if command.name == server)

    assert {*flags} <= {name for flag in command.all_flags() for name in (flag.name, *flag.aliases)}


@pytest.mark.parametrize("release", RELEASES)
def test_what_an_older_release_had_as_a_default_is_a_flag_of_today(release):
    flags = {command.name: {flag.name: flag for flag in command.all_flags()} for command in COMMANDS.values()}

    for server, defaults in RELEASES[release].items():
        assert {*defaults} <= {*flags[server]}, server
        for name, value in defaults.items():
            assert flags[server][name].kind.convert(value) == value != flags[server][name].default_value


@pytest.mark.parametrize(("command", "plugin"), PLUGINS)
def test_what_a_plugin_uses_is_a_flag_of_some_server(command, plugin):
    known = {flag.name for other in COMMANDS.values() for flag in other.flags}

    assert {*plugin.uses, *plugin.enabled_by} <= known


@pytest.mark.parametrize(("command", "plugin"), PLUGINS)
def test_a_plugin_reads_the_flags_it_has(command, plugin):
    has = {flag.setting for flag in plugin.flags if not flag.idle} | {setting_of(name) for name in plugin.uses}

    assert has <= settings_read(plugin.entry.module)


@pytest.mark.parametrize(("command", "plugin"), PLUGINS)
def test_the_default_of_a_setting_is_that_of_its_flag(command, plugin):
    defaults = {
        name: default
        for shape in shapes(plugin.entry.module)
        for name, default in defaults_of(shape).items()
        if default is not MISSING
    }

    for flag in plugin.flags:
        if not flag.idle and flag.setting in defaults:
            assert defaults[flag.setting] == flag.default_value, flag.name


@cache
def trees(module: str) -> tuple[tuple[str, ast.Module], ...]:
    """Return the modules of a plugin, each with its name."""
    place = Path(import_module(module).__file__)
    files = sorted(place.parent.glob("*.py")) if place.name == "__init__.py" else [place]
    names = [module if file == place else f"{module}.{file.stem}" for file in files]
    return tuple((name, ast.parse(file.read_text())) for name, file in zip(names, files, strict=True))


def shapes(module: str) -> list[type]:
    """Return the dataclasses that a plugin's modules pass to ``self.settings``."""
    return [
        getattr(import_module(name), node.args[0].id)
        for name, tree in trees(module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self.settings"
    ]


def settings_read(module: str) -> set[str]:
    """Return the keys of a plugin's settings: of its dataclasses, or taken out of the plain table."""
    taken = {
        node.args[0].value
        for _, tree in trees(module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "table.pop"
    }
    return taken | {name for shape in shapes(module) for name in defaults_of(shape)}


@pytest.mark.parametrize("word", SERVERS)
def test_each_flag_of_a_server_is_read_or_says_that_it_does_nothing(word):
    command = COMMANDS[word]
    sources = host_sources(Path(import_module(f"hyperkube_host.{word.replace('-', '_')}").__file__).parent)
    plugins = plugin_flags(command.name, command.families)
    given_on = {name for plugin in plugins for name in (*plugin.uses, *plugin.enabled_by)}

    unread = [
        flag.name
        for flag in command.flags
        if not flag.idle and flag.name not in given_on and not is_read(flag.name, sources)
    ]

    assert unread == []


SHARED = ("core/src", "plugins/lib")


def host_sources(host):
    """Return the text of what may read a server's flags: its own modules, the libraries, the core."""
    root = Path(__file__).resolve().parents[2]
    files = [*host.rglob("*.py"), *(file for folder in SHARED for file in (root / folder).rglob("src/**/*.py"))]
    files += (root / "core" / "src").rglob("*.py")
    return "\n".join(file.read_text() for file in files if "flags" not in file.name)


def is_read(name, sources):
    """Tell whether a flag is looked up by its name, is a field of a record of options, or one of a pair of flags."""
    _what, _, part = name.partition("-")
    field = rf"^\s+{setting_of(name)}: "
    return f'"{name}"' in sources or f'f"{{what}}-{part}"' in sources or bool(re.search(field, sources, re.MULTILINE))


CLOUDS = (
    "cloud.aws",
    "cloud.azure",
    "cloud.cloudstack",
    "cloud.gce",
    "cloud.openstack",
    "cloud.ovirt",
    "cloud.vsphere",
)
NAMED = tuple(cloud for cloud in CLOUDS if cloud not in {"cloud.cloudstack", "cloud.ovirt"})
LOOPS = ("controller.cloud-node", "controller.cloud-node-lifecycle", "controller.route", "controller.service")
VOLUMES = ("csi.azure-file", "csi.cloud-disks")
OF_CLOUDS = [
    ("kube-apiserver", "cloud-provider", ("kube-apiserver",)),
    ("kube-apiserver", "cloud-config", CLOUDS),
    ("kube-controller-manager", "cloud-provider", (*LOOPS, "controller.nodeipam", *VOLUMES)),
    ("kube-controller-manager", "cloud-config", CLOUDS),
    ("kube-controller-manager", "cluster-name", (*NAMED, "controller.route", "controller.service")),
    ("kube-controller-manager", "configure-cloud-routes", ("controller.route",)),
    ("kube-controller-manager", "external-cloud-volume-plugin", VOLUMES),
    (
        "cloud-controller-manager",
        "cloud-provider",
        ("cloud-controller-manager", *(f"cloud_{loop}" for loop in (*LOOPS, "controller.nodeipam"))),
    ),
    ("cloud-controller-manager", "cloud-config", CLOUDS),
    ("cloud-controller-manager", "cluster-name", (*NAMED, "cloud_controller.route", "cloud_controller.service")),
    ("cloud-controller-manager", "configure-cloud-routes", ("cloud_controller.route",)),
    ("cloud-controller-manager", "external-cloud-volume-plugin", ()),
    ("kubelet", "cloud-provider", ("kubelet", *VOLUMES)),
    ("kubelet", "cloud-config", CLOUDS),
    ("kubelet", "external-cloud-volume-plugin", VOLUMES),
]
"""Server, flag, and who reads it; nothing does what the server says has no effect."""


@pytest.mark.parametrize(("server", "name", "read_by"), OF_CLOUDS)
def test_a_flag_about_clouds_is_read_by(server, name, read_by):
    (command,) = (each for each in COMMANDS.values() if each.name == server)
    (flag,) = (each for each in command.all_flags() if each.name == name)
    (word,) = (word for word, each in COMMANDS.items() if each is command)
    place = Path(import_module(f"hyperkube_host.{word.replace('-', '_')}").__file__).parent
    own = "\n".join(file.read_text() for file in place.rglob("*.py") if "flags" not in file.name)

    found = {
        f"{plugin.family}.{plugin.name}"
        for plugin in plugin_flags(command.name, command.families)
        if name in {*plugin.uses, *(each.name for each in plugin.flags)}
    } | ({server} if is_read(name, own) else set())

    assert found == set(read_by)
    assert bool(flag.idle) == (not read_by)


OF_CONTROLLERS = (
    "Attachdetach", "Cronjob", "Csrsigning", "Daemonset", "Deployment", "Endpoint", "Endpointslice",
    "Endpointslicemirroring", "Ephemeralvolume", "Garbagecollector", "Horizontalpodautoscaling", "Job", "Namespace",
    "Nodeipam", "Nodelifecycle", "Persistentvolume-binder", "Podgc", "Replicaset", "Resourcequota", "Serviceaccount",
    "Statefulset", "Ttl-after-finished", "Validatingadmissionpolicystatus",
)  # fmt: skip
"""Sections of kube-controller-manager's flags (kubernetes ``cmd/kube-controller-manager/app/options/options.go``)."""


def test_flags_of_controllers_stand_under_their_names():
    (manager,) = (command for command in COMMANDS.values() if command.name == "kube-controller-manager")

    sections = re.findall(r"^(.*) flags:$", manager.help(), re.MULTILINE)

    assert {f"{name} controller" for name in OF_CONTROLLERS} | {"Replicationcontroller"} <= set(sections)
    assert (sections[0], sections[-1]) == ("Generic", "Global")


def test_texts_name_container_runtimes_that_there_are():
    there = {member.snake for member in distributions() if member.family == "runtime"}
    sources = [path for member in distributions() for path in member.source.rglob("*.py")]
    texts = [*sources, *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]

    named = {
        (str(path.relative_to(ROOT)), word)
        for path in texts
        for word in re.findall(r"--container-runtime=['\"]?([a-z][a-z0-9-]*)", path.read_text())
    }

    assert {word for _, word in named} >= {"remote", "docker"}
    assert {each for each in named if each[1] not in there} == set()
