"""What texts have a format, at the edges where Go's parsers are wider or narrower than expected."""

import pytest
from hyperkube_lib.structural_schema.formats import fits


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("uri", ["/a", "//a", "/a b", "mailto:x", "a:b", "http:", "*", "http://[::1]:80/", "http://u:p@h/?q", "x:%zz"]),
        ("email", ["a@b", "A <a@b.c>", '"x y"@b.c', '"X, Y" <a@b.c>', "<a@b.c>", "a@[1.2.3.4]", " a@b.c (me)"]),
        ("hostname", ["a-b", "a-", "1", "é.fr", "a+b", "a--b.com", "a.b.com"]),
        ("ipv4", ["01.2.3.4", "::ffff:1.2.3.4"]),
        ("ipv6", ["::", "::ffff:1.2.3.4", "FE80::1"]),
        ("cidr", ["10.0.0.1/8", "::/0", "010.0.0.0/08"]),
        ("mac", ["0000.5e00.5301", "02:00:5e:10:00:00:00:01", "00-00-5e-00-53-01"]),
        ("date", ["2020-02-29", "0000-02-29"]),
        ("date-time", ["2020-01-01t00:00:00z", "2020-01-01T00:00:00.1+02:00", "2020-01-01T00:00:00Z"]),
        ("duration", ["2 weeks", "1 Hour", "1h 30m", "3 hr", "1.5h", "-2s", "5 MICROS"]),
        ("byte", ["YQ==", "YWI=", "YWJj"]),
        ("ssn", ["123-45-6789", "123 45 6789"]),
    ],
)
def test_these_fit(form, values):
    assert [value for value in values if not fits(form, value)] == []


@pytest.mark.parametrize(
    ("form", "values"),
    [
        (
            "uri",
            ["", "a", "?x", ":a", "1a:b", "http://a b", "http://[::1", "http://[a]/", "/%zz", "http://a:b", "a:\n"],
        ),
        ("email", ["", "a", "a@", "@b", "a@b@c", "a..b@c", "a.@b", '""@b', "A a@b", "A <a@b", "a@b.", "a," * 99]),
        ("hostname", ["my-host", "a.b", "a.1a", "-a", "a_b", "a.", "a..bc", "x" * 64, "x." * 130 + "com", ""]),
        ("ipv4", ["1.2.3", "1.2.3.256", "::1", "1.2.3.", "1.2.3.4.5"]),
        ("ipv6", ["1.2.3.4", "fe80::1%eth0", ":::", ""]),
        ("cidr", ["10.0.0.0/33", "10.0.0.0", "10.0.0.0/255.0.0.0", "10.0.0.0/", "::/129"]),
        ("mac", ["00:00", "00:00-5e:00:53:01", "00005e005301", "00:00:5e:00:53:01:02"]),
        ("date", ["2020-02-30", "2020-00-01", "20-1-1", "2020-01-01T"]),
        ("date-time", ["2020-02-30T00:00:00Z", "2020-01-01T24:00:00Z", "2020-01-01T00:00:60Z", "2020-01-01T00:00:00"]),
        ("duration", ["", "5", "P1D", "1m30", "1 fortnight", "day"]),
        ("byte", ["", "YQ", "YQ==\n", "_-8="]),
        ("ssn", ["123456789", "123-456789"]),
    ],
)
def test_these_do_not_fit(form, values):
    assert [value for value in values if fits(form, value)] == []
