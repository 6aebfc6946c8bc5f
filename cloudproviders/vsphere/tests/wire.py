"""SOAP as a vCenter reads and writes it, by pyVmomi's registry of the vendor's types: no shape here is our own.

A request with a field or a type that the vendor does not have cannot be read; an answer that lacks what the vendor
requires cannot be written.
"""

from __future__ import annotations

from types import SimpleNamespace
from xml.etree import ElementTree as ET

from pyVmomi import SoapAdapter, VmomiSupport

ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
NAMES = {**SoapAdapter.SOAP_NSMAP}
VERSIONS = {"urn:vim25": "vim.version.version13", "urn:pbm": "pbm.version.version13"}
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" '
    f'xmlns:soapenv="{ENVELOPE}" xmlns:xsd="http://www.w3.org/2001/XMLSchema" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>'
)
TAIL = "</soapenv:Body></soapenv:Envelope>"


def read(body):
    """Return a request's method, its object, and its arguments by name."""
    root = ET.fromstring(body)
    (called,) = root.find(f"{{{ENVELOPE}}}Body")
    namespace, name = called.tag[1:].split("}")
    info = VmomiSupport.GetWsdlMethod(namespace, name).info
    this, *rest = called
    context = {
        each.tag.rpartition("}")[2]: each.text for head in root.findall(f"{{{ENVELOPE}}}Header") for each in head
    }
    words = {param.name: param.type for param in info.params}
    given = {}
    for each in rest:
        key = each.tag.rpartition("}")[2]
        of = words[key]  # KeyError: the vendor's method has no such parameter
        value = SoapAdapter.Deserialize(ET.tostring(each), getattr(of, "Item", of))
        if issubclass(of, list):
            given.setdefault(key, []).append(value)
        else:
            given[key] = value
    return SimpleNamespace(
        info=info, namespace=namespace, name=name, this=(this.get("type"), this.text), arguments=given, context=context
    )


def write(request, result):
    """Return the body of an answer."""
    version = VERSIONS[request.namespace]
    info = VmomiSupport.Object(
        name="returnval", type=request.info.result, version=version, flags=VmomiSupport.F_OPTIONAL
    )
    text = ""
    if result is not None and request.info.result is not VmomiSupport.NoneType:
        text = SoapAdapter.SerializeToStr(result, info, version, {**NAMES, request.namespace: ""})
    method = request.name
    return f'{HEAD}<{method}Response xmlns="{request.namespace}">{text}</{method}Response>{TAIL}'.encode()


def write_fault(request, fault):
    """Return the body of a fault."""
    version = VERSIONS[request.namespace]
    name = VmomiSupport.GetQualifiedWsdlName(type(fault))[1]
    text = SoapAdapter.SerializeFaultDetail(
        fault, VmomiSupport.Object(name=f"{name}Fault", type=type(fault), version=version, flags=0), version,
        {**NAMES, request.namespace: ""},
    )  # fmt: skip
    if "xmlns" not in text.partition(">")[0]:
        text = text.replace(f"<{name}Fault", f'<{name}Fault xmlns="{request.namespace}"', 1)
    said = f"<faultcode>ServerFaultCode</faultcode><faultstring>{fault.msg or ''}</faultstring>"
    return f"{HEAD}<soapenv:Fault>{said}<detail>{text}</detail></soapenv:Fault>{TAIL}".encode()


def path_type(of, path):
    """Return the type of a property path, which the vendor's type has to have."""
    for part in path.split("."):
        info = of._GetPropertyInfo(part)
        of = info.type
    return of


def plain(value):
    """Return what was sent as JSON has it: what is unset is left out."""
    if isinstance(value, VmomiSupport.DataObject):
        rows = {info.name: getattr(value, info.name) for info in value._GetPropertyList()}
        kept = {
            key: plain(each)
            for key, each in rows.items()
            if each is not None and not (isinstance(each, list) and not each)
        }
        return {"_": type(value)._wsdlName, **kept}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, VmomiSupport.ManagedObject):
        return value._moId
    if isinstance(value, type):
        return VmomiSupport.GetQualifiedWsdlName(value)[1]
    return value if isinstance(value, (bool, int, float)) or value is None else str(value)
