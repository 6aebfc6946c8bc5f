import base64

import orjson
import pytest
from hyperkube_host.apiserver.rest.continue_token import decode_token, encode_token

from hyperkube.machinery.errors import BadRequest

VERSION = "meta.k8s.io/v1"


def of(content):
    return base64.urlsafe_b64encode(orjson.dumps(content)).rstrip(b"=").decode()


def test_a_token_leads_back_to_where_the_page_ended():
    token = encode_token("a/pod-2\x00", "a/", 7)

    assert decode_token(token, "a/") == ("a/pod-2\x00", 7)


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("x", "illegal base64 data at input byte 0"),
        ("!!", "illegal base64 data at input byte 0"),
        ("e30=", "illegal base64 data at input byte 3"),
        ("e30xx", "illegal base64 data at input byte 4"),
        ("", "unexpected end of JSON input"),
        ("bnVsbA", "server does not recognize this encoded version "),
        ("e30", "server does not recognize this encoded version "),
        (of({"v": "bogus", "rv": 1, "start": "a"}), "server does not recognize this encoded version bogus"),
        (of([]), "json: cannot unmarshal array into Go value of type storage.continueToken"),
        (of({"v": 1}), "json: cannot unmarshal number into Go struct field continueToken.v of type string"),
        (of({"rv": "1"}), "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"),
        (of({"v": VERSION, "start": "a"}), f"incorrect encoded start resourceVersion (version {VERSION})"),
        (of({"v": VERSION, "rv": 5}), f"encoded start key empty (version {VERSION})"),
        (of({"v": VERSION, "rv": 5, "start": "../a"}), "../a"),
        (of({"v": VERSION, "rv": 5, "start": "//a"}), "//a"),
    ],
)
def test_what_is_no_token_is_refused_with_the_reason(token, why):
    with pytest.raises(BadRequest) as refused:
        decode_token(token, "a/")

    assert str(refused.value) == f"invalid continue token: continue key is not valid: {why}"


def test_a_number_that_is_none_of_64_bits_is_refused():
    token = base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v1","rv":1e400,"start":"a"}').rstrip(b"=").decode()

    with pytest.raises(BadRequest, match="continue key is not valid"):
        decode_token(token, "")
