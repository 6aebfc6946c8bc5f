"""The operating system in a node's instance type, from what a machine is configured for.

Source: cloud-provider-vsphere ``pkg/cloudprovider/vsphere/types.go`` (GuestOSLookup).
"""

from __future__ import annotations

import re
from typing import Final

UNKNOWN: Final = "unknown"
_STEM: Final = re.compile(r"(.+?)(?:_?64)?Guest(?:64)?")
_PLAIN: Final = frozenset(
    [
        "asianux3",
        "asianux4",
        "asianux5",
        "asianux7",
        "centos",
        "centos6",
        "centos7",
        "coreos",
        "debian4",
        "debian5",
        "debian6",
        "debian7",
        "debian8",
        "debian9",
        "debian10",
        "dos",
        "eComStation",
        "eComStation2",
        "fedora",
        "freebsd",
        "mandrake",
        "mandriva",
        "netware4",
        "netware5",
        "netware6",
        "nld9",
        "oes",
        "openServer5",
        "openServer6",
        "opensuse",
        "oracleLinux",
        "oracleLinux6",
        "oracleLinux7",
        "os2",
        "other",
        "rhel2",
        "rhel3",
        "rhel4",
        "rhel5",
        "rhel6",
        "rhel7",
        "sjds",
        "sles",
        "sles10",
        "sles11",
        "sles12",
        "solaris6",
        "solaris7",
        "solaris8",
        "solaris9",
        "solaris10",
        "solaris11",
        "suse",
        "ubuntu",
        "vmkernel",
        "vmkernel5",
        "vmkernel6",
        "vmkernel65",
    ]
)
_LOWERED: Final = frozenset(
    [
        "turboLinux",
        "unixWare7",
        "win2000AdvServ",
        "win2000Pro",
        "win2000Serv",
        "win31",
        "win95",
        "win98",
        "windowsHyperV",
        "winLonghorn",
        "winMe",
        "winNetBusiness",
        "winNetDatacenter",
        "winNetEnterprise",
        "winNetStandard",
        "winNetWeb",
        "winNT",
        "winVista",
        "winXPHome",
        "winXPPro",
    ]
)
_NAMED: Final = {
    "genericLinux": "linux", "other24xLinux": "linux", "other26xLinux": "linux", "other3xLinux": "linux",
    "otherLinux": "linux", "redhat": "rhel", "vmwarePhoton": "photon", "windows7": "win7", "windows8": "win8",
    "windows9": "win10", "windows7Server": "win7server", "windows8Server": "win8server",
    "windows9Server": "win10server",
}  # fmt: skip
_WHOLE: Final = {"centos64Guest": "centos64", "sles64Guest": "sles64"}
"""Where the short name keeps what others lose."""


def system_of(guest_id: str) -> str:
    """Return the short name of ``guestId``, ``unknown`` for those that Kubernetes has none for."""
    if guest_id in _WHOLE:
        return _WHOLE[guest_id]
    found = _STEM.fullmatch(guest_id)
    stem = found[1] if found else ""
    if stem in _PLAIN:
        return stem
    if re.fullmatch(r"darwin(1[0-6])?", stem):
        return "darwin"
    return stem.lower() if stem in _LOWERED else _NAMED.get(stem, UNKNOWN)
