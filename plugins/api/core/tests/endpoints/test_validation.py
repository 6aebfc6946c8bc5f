"""Which addresses Endpoints may hold."""

from hyperkube_api.core.endpoints.validation import validate_endpoints


def _endpoints(address):
    return {"subsets": [{"addresses": [{"ip": address}], "ports": [{"port": 80, "protocol": "TCP"}]}]}


def test_an_address_of_the_machine_itself_is_refused():
    (error,) = validate_endpoints(_endpoints("127.64.0.2"))

    assert str(error.path) == "subsets[0].addresses[0].ip"


def test_it_is_taken_where_pods_are_processes_of_the_machine():
    assert validate_endpoints(_endpoints("127.64.0.2"), loopback=lambda _endpoint, _address: True) == []
    assert validate_endpoints(_endpoints("169.254.0.2"), loopback=lambda _endpoint, _address: True) != []


def test_an_update_checks_the_addresses_that_are_not_in_the_stored_object():
    old = {"subsets": [{"addresses": [{"ip": "127.0.0.9"}, {"ip": "10.0.0.1", "nodeName": "n"}]}]}
    new = [{"ip": "10.0.0.1", "nodeName": "A_"}, {"ip": "127.0.0.1"}]
    asked = []

    errors = validate_endpoints(
        {"subsets": [{"addresses": new, "notReadyAddresses": [{"ip": "127.0.0.9"}]}]},
        old,
        loopback=lambda _address, ip: asked.append(ip) or False,
    )

    assert [str(error.path) for error in errors] == ["subsets[0].addresses[0].nodeName", "subsets[0].addresses[1].ip"]
    assert asked == ["127.0.0.1"]
