"""What Kubernetes adds to the language: quantities, versions, addresses, URLs."""

from __future__ import annotations

import pytest

from numalign.dra.cel.errors import CompileError, EvaluationError
from tests.dra.cel.selectors import cost, matches

URL = "url('https://user@a.example:8080/p/q?k=1&k=2&e=')"

SAME = [
    ("quantities of one amount are equal", ["quantity('1Gi') == quantity('1024Mi')", "quantity('1') != quantity('2')"]),
    (
        "what is a quantity",
        ["isQuantity('1.3G')", "isQuantity('1e3')", "!isQuantity('1,3G')", "!isQuantity('10000k K')"],
    ),
    (
        "quantities are ordered",
        [
            "quantity('200M').compareTo(quantity('0.2G')) == 0",
            "quantity('50M').compareTo(quantity('50Mi')) == -1",
            "quantity('50Mi').compareTo(quantity('50M')) == 1",
        ],
    ),
    ("greater", ["quantity('2').isGreaterThan(quantity('1'))", "!quantity('1').isGreaterThan(quantity('1'))"]),
    ("less", ["quantity('1').isLessThan(quantity('2'))", "!quantity('1').isLessThan(quantity('1'))"]),
    (
        "signs",
        [
            "sign(quantity('2')) == 1",
            "sign(quantity('-2')) == -1",
            "sign(quantity('0')) == 0",
            "sign(quantity('1n')) == 1",
        ],
    ),
    (
        "sums",
        ["quantity('50k').add(quantity('20')) == quantity('50020')", "quantity('50k').add(20) == quantity('50020')"],
    ),
    (
        "differences",
        ["quantity('50k').sub(quantity('20')) == quantity('49980')", "quantity('50k').sub(20) == quantity('49980')"],
    ),
    (
        "whole quantities",
        ["quantity('50k').asInteger() == 50000", "quantity('50k').isInteger()", "!quantity('50.3').isInteger()"],
    ),
    ("a difference is whole, too", ["quantity('5').sub(quantity('7')).asInteger() == -2"]),
    ("as doubles", ["quantity('50.5').asApproximateFloat() == 50.5"]),
    (
        "what is a version",
        ["isSemver('1.2.3-rc.1+b')", "!isSemver('1.2')", "!isSemver('v1.2.3')", "!isSemver('1.02.3')"],
    ),
    (
        "what may become one",
        ["isSemver('v1.2', true)", "isSemver('1.02.3', true)", "!isSemver('1.2', false)", "!isSemver('x', true)"],
    ),
    ("a version made whole", ["semver('v1.02', true) == semver('1.2.0')", "semver('1', true) == semver('1.0.0')"]),
    (
        "versions are ordered",
        ["semver('1.2.3').compareTo(semver('1.10.0')) == -1", "semver('2.0.0').compareTo(semver('1.9.9')) == 1"],
    ),
    ("equal versions", ["semver('1.2.3').compareTo(semver('1.2.3')) == 0", "semver('1.2.3+a') == semver('1.2.3+b')"]),
    (
        "greater versions",
        ["semver('1.0.1').isGreaterThan(semver('1.0.0'))", "!semver('1.0.0').isGreaterThan(semver('1.0.0'))"],
    ),
    (
        "lesser versions",
        ["semver('1.0.0').isLessThan(semver('1.0.1'))", "!semver('1.0.0').isLessThan(semver('1.0.0'))"],
    ),
    (
        "before a release",
        ["semver('1.0.0-a').isLessThan(semver('1.0.0'))", "semver('1.0.0').isGreaterThan(semver('1.0.0-a'))"],
    ),
    (
        "numbers come before texts",
        ["semver('1.0.0-1').isLessThan(semver('1.0.0-a'))", "semver('1.0.0-a').isGreaterThan(semver('1.0.0-1'))"],
    ),
    (
        "numbers by their size",
        [
            "semver('1.0.0-rc.2').isLessThan(semver('1.0.0-rc.10'))",
            "semver('1.0.0-b').isGreaterThan(semver('1.0.0-a'))",
        ],
    ),
    (
        "more parts are later",
        ["semver('1.0.0-a').isLessThan(semver('1.0.0-a.1'))", "semver('1.0.0-a.1').isGreaterThan(semver('1.0.0-a'))"],
    ),
    (
        "parts of a version",
        ["semver('1.2.3').major() == 1", "semver('1.2.3').minor() == 2", "semver('1.2.3').patch() == 3"],
    ),
    (
        "what is an address",
        [
            "isIP('127.0.0.1')",
            "isIP('::1')",
            "!isIP('127.0.0.256')",
            "!isIP('fe80::1%eth0')",
            "!isIP('::ffff:1.2.3.4')",
        ],
    ),
    ("families", ["ip('127.0.0.1').family() == 4", "ip('::1').family() == 6"]),
    ("unspecified", ["ip('0.0.0.0').isUnspecified()", "ip('::').isUnspecified()", "!ip('1.2.3.4').isUnspecified()"]),
    ("loopback", ["ip('127.0.0.1').isLoopback()", "ip('::1').isLoopback()", "!ip('1.2.3.4').isLoopback()"]),
    (
        "multicast of the link",
        [
            "ip('224.0.0.1').isLinkLocalMulticast()",
            "ip('ff02::1').isLinkLocalMulticast()",
            "!ip('224.0.1.1').isLinkLocalMulticast()",
        ],
    ),
    (
        "unicast of the link",
        [
            "ip('169.254.169.254').isLinkLocalUnicast()",
            "ip('fe80::1').isLinkLocalUnicast()",
            "!ip('1.2.3.4').isLinkLocalUnicast()",
        ],
    ),
    ("global unicast", ["ip('192.168.0.1').isGlobalUnicast()", "ip('2001::1').isGlobalUnicast()"]),
    (
        "no global unicast",
        [
            "!ip('255.255.255.255').isGlobalUnicast()",
            "!ip('224.0.0.1').isGlobalUnicast()",
            "!ip('127.0.0.1').isGlobalUnicast()",
            "!ip('0.0.0.0').isGlobalUnicast()",
            "!ip('fe80::1').isGlobalUnicast()",
        ],
    ),
    ("one way to write an address", ["ip.isCanonical('::1')", "!ip.isCanonical('0::1')"]),
    (
        "what is a network",
        [
            "isCIDR('192.168.0.0/16')",
            "isCIDR('::1/128')",
            "!isCIDR('192.168.0.0')",
            "!isCIDR('1.2.3.4/33')",
            "!isCIDR('1.2.3.4/255.0.0.0')",
        ],
    ),
    (
        "a network holds addresses",
        ["cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))", "!cidr('192.168.0.0/24').containsIP('192.168.1.1')"],
    ),
    ("of its own family", ["!cidr('0.0.0.0/0').containsIP('::1')"]),
    (
        "a network holds networks",
        [
            "cidr('192.168.0.0/24').containsCIDR(cidr('192.168.0.0/25'))",
            "!cidr('192.168.0.0/24').containsCIDR('192.168.0.0/23')",
        ],
    ),
    ("networks of its own family", ["!cidr('0.0.0.0/0').containsCIDR('::/0')"]),
    ("a network's own address", ["cidr('192.168.0.7/24').ip() == ip('192.168.0.7')"]),
    ("a network without its host", ["cidr('192.168.0.7/24').masked() == cidr('192.168.0.0/24')"]),
    ("how long its prefix is", ["cidr('192.168.0.0/24').prefixLength() == 24"]),
    ("texts of addresses", ["string(ip('0::1')) == '::1'", "string(cidr('192.168.0.0/24')) == '192.168.0.0/24'"]),
    ("what is a URL", ["isURL('https://a.example/')", "isURL('/path')", "!isURL('a.example')", "!isURL('http://a:b')"]),
    ("its scheme and host", [f"{URL}.getScheme() == 'https'", f"{URL}.getHost() == 'a.example:8080'"]),
    ("its host's name and port", [f"{URL}.getHostname() == 'a.example'", f"{URL}.getPort() == '8080'"]),
    (
        "its path and query",
        [f"{URL}.getEscapedPath() == '/p/q'", f"{URL}.getQuery() == {{'k': ['1', '2'], 'e': ['']}}"],
    ),
    (
        "what it lacks is empty",
        ["url('/p').getScheme() == ''", "url('/p').getHostname() == ''", "url('/p').getPort() == ''"],
    ),
]


@pytest.mark.parametrize("texts", [row[1] for row in SAME], ids=[row[0] for row in SAME])
def test_it_holds(texts: list[str]) -> None:
    for text in texts:
        assert matches(text), text


FAILS = [
    ("a text that is no quantity", "sign(quantity('1,3')) == 1", "quantities must match"),
    ("a quantity that is not whole", "quantity('1.5').asInteger() == 1", "cannot convert value to integer"),
    ("a text that is no version", "semver('1.2').major() == 1", "no semantic version"),
    ("a version with a prefix", "semver('v1.2.3', false).major() == 1", "no semantic version"),
    ("a text that is no address", "ip('1.2.3').family() == 4", "parse error during conversion"),
    ("an address of the other family inside", "ip('::ffff:1.2.3.4').family() == 6", "is not allowed"),
    ("a text that is no network", "cidr('1.2.3.4').prefixLength() == 1", "network address parse error"),
    ("a text that is no URL", "url('a b').getHost() == ''", "URL parse error"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in FAILS], ids=[row[0] for row in FAILS])
def test_it_fails(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        matches(text)


def test_a_sign_is_a_function_and_no_method() -> None:
    with pytest.raises(CompileError):
        matches("quantity('1').sign() == 1")


@pytest.mark.parametrize("function", ["isQuantity", "isSemver", "isIP", "isCIDR", "isURL"])
def test_reading_a_text_costs_a_tenth_of_it(function: str) -> None:
    long, short = (cost(f"{function}('{'x' * size}') || true") for size in (1000, 500))
    assert long - short == 50


def test_reading_a_version_in_any_form_costs_as_much() -> None:
    long, short = (cost(f"isSemver('{'x' * size}', true) || true") for size in (1000, 500))
    assert long - short == 50
