"""The table of feature gates says of each whether something reads it, and all that are read are in it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hyperkube_lib.component_base.feature_gates import known_gates

ROOT = Path(__file__).resolve().parents[2]
READ = re.compile(r"gates(?:\.get\(|\[)(?:\"(\w+)\"|(\w+))")
CONSTANT = re.compile(r"^(\w*[A-Z]\w*)(?:: [^=\n]+)? = (.*)", re.MULTILINE)
NAME = re.compile(r'"([A-Z][A-Za-z]+)"')
GATES = re.compile(r"(\w*_)?GATES?$")


def read_gates():
    """Return the names that are taken out of the gates: as they are, or by a constant, or in a loop over one."""
    found = set()
    for file in (ROOT / "plugins").glob("*/*/src/**/*.py"):
        text = file.read_text()
        constants = dict(CONSTANT.findall(text))
        for literal, name in READ.findall(text):
            if literal:
                found.add(literal)
            elif name in constants:
                found |= set(NAME.findall(constants[name]))
        found |= {gate for name, value in constants.items() if GATES.match(name) for gate in NAME.findall(value)}
    for file in (ROOT / "plugins" / "controller").glob("*/src/**/*controller.toml"):
        for row in tomllib.loads(file.read_text()).values():
            found |= set(row.get("feature_gates", {}))
    return found


def test_plugins_read_the_gates_that_they_declare_and_take_no_name_of_kubernetes():
    files = [*(ROOT / "examples").glob("*/src/**/*flags.toml"), *ROOT.glob("*/*/src/**/*flags.toml")]
    files += ROOT.glob("plugins/*/*/src/**/*flags.toml")
    declared = {gate["name"]: file for file in files for gate in tomllib.loads(file.read_text()).get("gate", ())}

    assert declared
    for name, file in declared.items():
        sources = [source.read_text() for source in file.parent.glob("*.py")]
        assert any(f'"{name}"' in text and "gates" in text for text in sources), name
        assert name not in known_gates()


def test_what_is_read_is_in_the_table_and_marked_so():
    assert read_gates() == {gate.name for gate in known_gates().values() if gate.acts}


NO_GATES = {"CSIStorageCapacity", "PodCertificateProjection"}
"""What fields of the API name and servers of this release do not know: a gate that is gone, and a name that is none."""


def test_the_gates_that_fields_of_the_api_wait_for_are_taken():
    files = (ROOT / "plugins" / "api").glob("*/src/**/*.py")
    named = {gate for file in files for gate in re.findall(r'gate="(\w+)"', file.read_text())}

    assert named - set(known_gates()) == NO_GATES


CAME_WITH_1_36 = """
    AtomicFIFO CRIListStreaming ControllerManagerReleaseLeaderElectionLockOnExit DRAListTypeAttributes
    DRANodeAllocatableResources DRAResourceClaimGranularStatusAuthorization DRAResourcePoolStatus
    DRAWorkloadResourceClaims DeclarativeValidationBeta ExtendWebSocketsToKubelet ManifestBasedAdmissionControlConfig
    NativeHistograms PersistentVolumeClaimUnusedSinceTime PodLevelResourceManagers PodsAPI ShardedListAndWatch
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet TopologyAwareWorkloadScheduling UnlockWhileProcessingFIFO WorkloadWithJob
"""
"""Source: kubernetes.io, reference/command-line-tools-reference/feature-gates, alpha and beta since 1.36."""


def test_a_command_line_may_name_the_gates_of_this_release():
    assert set(CAME_WITH_1_36.split()) <= set(known_gates())
