"""marshmallow is the one everybody knows; its patterns are compiled at their first use."""

import re
import subprocess
import sys

import pytest

from hyperkube.machinery.schema.light_marshmallow import ma

COMPILED = """
import re
compiled = []
plain = re.compile
re.compile = lambda pattern, flags=0: compiled.append(pattern) or plain(pattern, flags)
import hyperkube.machinery.schema.light_marshmallow as light
validator = light.ma.validate.Email
patterns = validator.USER_REGEX, validator.DOMAIN_REGEX
assert not {each._arguments[0] for each in patterns}.intersection(compiled)
assert light.ma.fields.Email().deserialize("a@example.com") == "a@example.com"
assert {each._arguments[0] for each in patterns} <= set(compiled)
"""


def test_no_pattern_of_addresses_is_compiled_before_one_is_matched():
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False)

    assert done.stderr == ""


@pytest.mark.parametrize("address", ["a@example.com", "a.b+c@localhost", '"quoted"@example.org', "a@[127.0.0.1]"])
def test_addresses_are_believed(address):
    assert ma.fields.Email().deserialize(address) == address


@pytest.mark.parametrize("address", ["a", "a@", "@example.com", "a b@example.com"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ma.ValidationError, match="Not a valid email address"):
        ma.fields.Email().deserialize(address)


def test_the_module_has_the_real_patterns_for_those_of_users():
    assert ma.validate.re is re
    with pytest.raises(re.error):
        ma.validate.Regexp("(")
