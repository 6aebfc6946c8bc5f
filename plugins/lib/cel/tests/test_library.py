"""Every function of the library at least once: what it gives, and what it refuses."""

import pytest
from hyperkube_lib.cel import CompilationFailed, EvaluationError, NotInstantiated, base_environment
from hyperkube_lib.cel.types import DURATION, DYN, INT, STRING, list_of

NAMES = {"none": [], "some": [1, 2, 2, 3], "text": "this is a 123 string 456", "words": ["b", "a"], "any": {"a": 1}}
URL = "url('https://user:pass@kubernetes.io:80/docs/home?k1=a&k2=b&k2=c#anchor')"


@pytest.fixture(scope="module")
def environment():
    types = {"none": list_of(INT), "some": list_of(INT), "text": STRING, "words": list_of(STRING), "any": DYN}
    return base_environment({**types, "waits": list_of(DURATION)})


TRUE = [
    # Lists.
    "some.sum() == 8 && some.min() == 1 && some.max() == 3",
    "none.sum() == 0 && none.isSorted() && some.isSorted() && !words.isSorted()",
    "some.indexOf(2) == 1 && some.lastIndexOf(2) == 2 && some.indexOf(10) == -1 && some.lastIndexOf(10) == -1",
    "[1.0, 2.0].sum() == 3.0 && [1.0, 2.0].min() == 1.0 && [1u, 2u].sum() == 3u",
    "[duration('1s'), duration('1m')].sum() == duration('61s')",
    "[duration('1s'), duration('1m')].max() == duration('1m')",
    "words.min() == 'a' && words.max() == 'b' && words.indexOf('a') == 1",
    "[timestamp('2000-01-01T00:00:00Z'), timestamp('2010-01-01T00:00:00Z')].isSorted()",
    "[[1], [2]].indexOf([1]) == 0 && [{'a': 1}, {'b': 2}].lastIndexOf({'b': 2}) == 1",
    "([0] + none).min() == 0",
    "dyn([]).sum() == 0 && dyn([1, 2]).sum() == 3 && dyn([1.0, 2.0]).sum() == 3.0",
    "lists.range(3) == [0, 1, 2] && [3, 1].sort() == [1, 3] && [1, 2].reverse() == [2, 1]",
    "[1, 2, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2] && [[[1]]].flatten(2) == [1]",
    "[1, 2, 3].slice(1, 2) == [2] && ['bb', 'a'].sortBy(x, x.size()) == ['a', 'bb']",
    "['bb', 'a'].sortBy(x, x.size()).sortBy(y, -y.size()) == ['bb', 'a'] && none.sortBy(x, x) == []",
    "[1, 2].first().value() == 1 && [1, 2].last().value() == 2 && !none.first().hasValue()",
    # Regular expressions.
    "text.find('[0-9]+') == '123' && text.find('xyz') == ''",
    "text.findAll('[0-9]+') == ['123', '456'] && text.findAll('[0-9]+', 1) == ['123']",
    "text.findAll('[0-9]+', 0) == [] && text.findAll('[0-9]+', -1) == ['123', '456'] && text.findAll('xyz') == []",
    # URLs.
    "url('/path').getScheme() == '' && url('https://example.com/').getScheme() == 'https'",
    "url('https://example.com:80/').getHost() == 'example.com:80' && url('/path').getHost() == ''",
    "url('https://[::1]:80/').getHost() == '[::1]:80' && url('https://[::1]/').getHostname() == '::1'",
    "url('https://example.com:80/').getPort() == '80' && url('https://example.com/').getPort() == ''",
    "url('https://example.com/with space/').getEscapedPath() == '/with%20space/'",
    "url('https://example.com').getEscapedPath() == ''",
    "url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
    "url('https://example.com/path?a b=c d').getQuery() == {'a b': ['c d']}",
    "url('https://example.com/path?').getQuery() == {}",
    f"{URL}.getScheme() == 'https' && {URL}.getHost() == 'kubernetes.io:80' && {URL}.getEscapedPath() == '/docs/home'",
    "isURL('https://user:pass@example.com:80/path?query=val#fragment') && isURL('/path')",
    "!isURL('https://a:b:c/') && !isURL('../relative-path')",
    # Quantities.
    "isQuantity('20') && isQuantity('1.5Gi') && isQuantity('-1m') && !isQuantity('10Ki1')",
    "quantity('12Mi') == quantity('12Mi') && quantity('1000k') == quantity('1M') && quantity('1') != quantity('2')",
    "sign(quantity('12Mi')) == 1 && sign(quantity('0')) == 0 && sign(quantity('-1')) == -1",
    "quantity('50Mi').isGreaterThan(quantity('50M')) && quantity('50M').isLessThan(quantity('50Mi'))",
    "quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('1').compareTo(quantity('2')) == -1",
    "quantity('50k').add(quantity('20')) == quantity('50020') && quantity('50k').add(20) == quantity('50020')",
    "quantity('50k').sub(quantity('20')) == quantity('49980') && quantity('50k').sub(20) == quantity('49980')",
    "quantity('50').isInteger() && !quantity('50m').isInteger() && quantity('50k').asInteger() == 50000",
    "quantity('50.5').asApproximateFloat() == 50.5",
    # Addresses and networks.
    "isIP('192.168.0.1') && isIP('2001:db8::68') && !isIP('192.168.0.1.0') && !isIP('::ffff:192.0.2.1')",
    "ip('192.168.0.1').family() == 4 && ip('::1').family() == 6 && string(ip('::1')) == '::1'",
    "ip.isCanonical('127.0.0.1') && !ip.isCanonical('2001:DB8::ABCD') && ip.isCanonical('2001:db8::abcd')",
    "ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified() && !ip('127.0.0.1').isUnspecified()",
    "ip('127.0.0.1').isLoopback() && ip('::1').isLoopback() && !ip('10.0.0.1').isLoopback()",
    "ip('224.0.0.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast()",
    "ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast()",
    "ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()",
    "ip('127.0.0.1') == ip('127.0.0.1')",
    "isCIDR('192.168.0.0/24') && isCIDR('2001:db8::/32') && !isCIDR('192.168.0.0') && !isCIDR('192.168.0.0/33')",
    "cidr('192.168.0.0/24').containsIP('192.168.0.1') && cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))",
    "!cidr('192.168.0.0/24').containsIP('192.168.1.1')",
    "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/8'))",
    "cidr('192.168.0.1/24').ip() == ip('192.168.0.1') && cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')",
    "cidr('192.168.0.0/24').prefixLength() == 24 && string(cidr('10.0.0.0/8')) == '10.0.0.0/8'",
    # Formats.
    "!format.dns1123Label().validate('my-label-name').hasValue() && format.dns1123Label().validate('A_').hasValue()",
    "!format.dns1123Subdomain().validate('a.b').hasValue() && !format.dns1035Label().validate('a1').hasValue()",
    "!format.qualifiedName().validate('a.b/c').hasValue() && !format.labelValue().validate('a').hasValue()",
    "!format.dns1123LabelPrefix().validate('a-').hasValue() && !format.dns1035LabelPrefix().validate('a-').hasValue()",
    "!format.dns1123SubdomainPrefix().validate('a-').hasValue() && !format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
    "!format.uri().validate('https://a/b').hasValue() && format.uri().validate('a b').hasValue()",
    "!format.byte().validate('aGVsbG8=').hasValue() && format.byte().validate('!').hasValue()",
    "!format.date().validate('2021-01-01').hasValue() && !format.datetime().validate('2021-01-01T00:00:00Z').hasValue()",
    "format.named('dns1123Label').hasValue() && !format.named('nothing').hasValue()",
    # Versions.
    "isSemver('1.0.0') && !isSemver('v1.0') && !isSemver('hello') && isSemver('v1.0', true) && isSemver('01.2', true)",
    "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
    "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.2.3').isGreaterThan(semver('1.2.3-alpha'))",
    "semver('1.2.3').compareTo(semver('1.2.3')) == 0 && semver('v1.2', true) == semver('1.2.0')",
    # Sets.
    "sets.contains([1, 2], []) && sets.contains([1, 2], [2]) && !sets.contains([1], [2])",
    "sets.equivalent([1, 2, 1], [2, 1]) && sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [])",
    # Two variables.
    "{'a': 1}.all(k, v, k == 'a' && v == 1) && [5].exists(i, v, i == 0 && v == 5)",
    "[1, 2].existsOne(i, v, v == 2) && [1, 2].transformList(i, v, v + i) == [1, 3]",
    "[1, 2].transformList(i, v, v > 1, v) == [2] && {'a': 1}.transformMap(k, v, v > 5, v) == {}",
    "{'a': 'b'}.transformMapEntry(k, v, {v: k}) == {'b': 'a'}",
    # Optional values.
    "optional.of(1).hasValue() && !optional.none().hasValue() && !optional.ofNonZeroValue(0).hasValue()",
    "optional.of(1).or(optional.of(2)).value() == 1 && optional.none().orValue(3) == 3",
    "any.?a.hasValue() && !any.?b.hasValue() && any.?b.orValue(2) == 2 && any[?'a'].value() == 1",
    "[?any.?b] == [] && {?'x': any.?b} == {} && optional.of(2).optMap(x, x * 2).value() == 4",
    "optional.of(2).optFlatMap(x, optional.of(x)).value() == 2",
    "optional.unwrap([optional.of(1), optional.none()]) == [1] && [optional.of(1)].unwrapOpt() == [1]",
    # Text.
    "'%s and %d'.format(['a', 1]) == 'a and 1' && '%.2f'.format([1.0]) == '1.00' && '%x'.format([255]) == 'ff'",
    "'%b %o %X %e'.format([5, 8, 255, 1.0]) == '101 10 FF 1.000000\u00d710\u2070\u2070'",
    "'%s'.format([[1, 'a']]) == '[1, \"a\"]' && '%s'.format([{'k': true}]) == '{\"k\":true}'",
    "strings.quote('a\"b') == '\"a\\\\\"b\"'",
    # Bindings.
    "optional.of('a').optMap(x, x + x).value() == 'aa'",
    "'%.2e %.1f'.format([0.0012, 1234567.0]) == '1.20\u00d710\u207b\u2070\u00b3 1,234,567.0'",
    "string(-0.0) == '-0' && string(0.0) == '0'",
]


@pytest.mark.parametrize("source", TRUE, ids=lambda source: source[:60])
def test_a_function_gives(environment, source):
    assert environment.compile(source).evaluate(NAMES) is True


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("none.min() == 1", "min called on empty list"),
        ("none.max() == 1", "max called on empty list"),
        ("url('https://a:b:c/').getHost() == ''", "URL parse error during conversion from string"),
        ("sign(quantity('10Ki1')) == 0", "unable to parse quantity's suffix"),
        ("sign(quantity('x')) == 0", "quantities must match the regular expression"),
        ("quantity('50m').asInteger() == 0", "cannot convert value to integer"),
        ("ip('not-an-ip').family() == 4", "IP Address"),
        ("cidr('x').prefixLength() == 1", "parse error during conversion from string"),
        ("semver('v1').major() == 1", "No Major.Minor.Patch elements found"),
        ("semver('').major() == 1", "Version string empty"),
        ("semver('v1.2.3').major() == 1", 'Invalid character(s) found in major number "v1"'),
        ("semver('1.02.3').major() == 1", 'Minor number must not contain leading zeroes "02"'),
        ("semver('1.2.').major() == 1", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("semver('1.2.3.4').major() == 1", 'Invalid character(s) found in patch number "3.4"'),
        ("semver('1.2.3-').major() == 1", "Prerelease is empty"),
        ("semver('1.2.3-01').major() == 1", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("semver('1.2.3-a_b').major() == 1", 'Invalid character(s) found in prerelease "a_b"'),
        ("semver('1.2.3+').major() == 1", "Build meta data is empty"),
        ("semver('1.2.3+a-b.c!').major() == 1", 'Invalid character(s) found in build meta data "c!"'),
        ("[1, 2].slice(2, 1) == []", "slice"),
        ("[dyn(1), 'a'].sort() == []", "list elements must have the same type"),
        ("[dyn(null), dyn(1)].sort() == []", "list elements must be comparable"),
        ("['a', 'b'].sortBy(x, x == 'a' ? dyn(1) : dyn('b')) == []", "list elements must have the same type"),
        (f"int('{'9' * 5000}') == 1", "type conversion error from 'string' to 'int'"),
        (f"uint('{'9' * 5000}') == 1u", "type conversion error from 'string' to 'uint'"),
        ("'%.100000000f'.format([1.0]) == ''", "could not convert precision to integer"),
        (f"'%.{'9' * 5000}e'.format([1.0]) == ''", "could not convert precision to integer"),
    ],
)
def test_a_function_refuses_a_value(environment, source, text):
    with pytest.raises(EvaluationError) as caught:
        environment.compile(source).evaluate(NAMES)

    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("['a', 'b'].sum() == 'c'", "found no matching overload for 'sum' applied to 'list(string).()"),
        ("[[1], [2]].min() == [1]", "found no matching overload for 'min' applied to 'list(list(int)).()"),
        ("[{'a': 1}].max() == {}", "found no matching overload for 'max' applied to 'list(map(string, int)).()"),
        ("quantity('1') == 1", "found no matching overload for '_==_'"),
        ("ip('::1').containsIP('::1')", "found no matching overload for 'containsIP'"),
        ("'a'.nothing()", "undeclared reference to 'nothing'"),
    ],
)
def test_a_function_refuses_a_type(environment, source, text):
    with pytest.raises(CompilationFailed) as caught:
        environment.compile(source)

    assert text in str(caught.value)


@pytest.mark.parametrize("source", ["text.matches(')')", "text.find(')') == ''", "text.findAll(')', 1) == []"])
def test_a_pattern_that_is_written_out_is_checked_at_once(environment, source):
    with pytest.raises(NotInstantiated, match="program instantiation failed: error parsing regexp: unexpected \\)"):
        environment.compile(source)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("ip('v').family() == 4", 'IP Address "v" parse error during conversion from string: ParseAddr("v")'),
        (
            "cidr('v').prefixLength() == 1",
            "from string: network address parse error during conversion from string: netip",
        ),
        ("url('%').getHost() == ''", 'parse "%": invalid URI for request'),
        ("url('::').getHost() == ''", 'parse "::": missing protocol scheme'),
        ("url('').getHost() == ''", 'parse "": empty url'),
    ],
)
def test_a_text_that_cannot_be_read_is_quoted(environment, expression, text):
    with pytest.raises(EvaluationError) as refused:
        environment.compile(expression).evaluate(NAMES)

    assert text in str(refused.value)


@pytest.mark.parametrize(
    "expression", ["cel.bind(x, 1, x)", "'abc'.reverse()", "quantity('1').sign()", "quantity(5).sign()", "[1].map(x)"]
)
def test_what_kubernetes_does_not_offer_does_not_compile(environment, expression):
    with pytest.raises(CompilationFailed) as refused:
        environment.compile(expression)

    offsets = [issue.offset for issue in refused.value.issues]
    assert offsets == sorted(offsets)
