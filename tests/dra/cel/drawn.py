"""Expressions by chance, of which each number gives the same one on every machine: typed, but for what goes wrong.

A form is a value of its kind; the name of a kind in capitals stands for a value of that kind.
"""

from __future__ import annotations

import re
from random import Random

from tests.dice import Dice

DEEPEST = 3

LEAVES = {
    "bool": r"""
        true | false | device.allowMultipleAllocations | ATTRIBUTES.healthy
        """,
    "int": r"""
        0 | 1 | 2 | -3 | 0x1F | 9223372036854775807 | ATTRIBUTES.index | size(device.attributes)
        """,
    "uint": r"""
        0u | 1u | 7u | 0x10u | 18446744073709551615u
        """,
    "double": r"""
        0.0 | 1.5 | -2.25 | 1e3 | 2.5e-3 | 1e308 | .5
        """,
    "string": r"""
        '' | 'a' | 'ab' | "Ab-c" | r'a\d' | 'aXbXc' | ' a\t' | '''a\n'b''' | '\x41\u00e9\101\n' | 'é€😀'
        device.driver | ATTRIBUTES.model | '12' | '1.50' | 'true' | 'a,b,,c' | 'H100 80GB' | 'abcdefghijklm'
        """,
    "bytes": r"""
        b'' | b'a' | b'\xff\101' | b'abc' | b'é'
        """,
    "pattern": r"""
        'a' | '^[A-Z]\\d+$' | '(a|b)+' | '[^a-c]' | '(?i)h1' | 'b*?' | '(' | 'X|$' | '\\bX'
        """,
    "version": r"""
        '1.2.3' | '550.54.14' | '1.2.3-a.1' | '1.2.3-a.2+b' | 'v1.2' | '01.2.3' | '1.2.3-1' | 'x'
        """,
    "amount": r"""
        '80Gi' | '1.5' | '100m' | '-2k' | '1e3' | 'x' | '40Gi' | '0'
        """,
    "address": r"""
        '10.1.2.3' | '::1' | '127.0.0.1' | 'fe80::1' | '224.0.0.1' | '0.0.0.0' | '::0:1' | '10.1.2'
        """,
    "network": r"""
        '10.0.0.0/8' | '10.1.2.3/16' | '::1/128' | 'fd00::/8' | '10.0.0.0/33' | '0.0.0.0/0'
        """,
    "link": r"""
        'https://u@a.example:8080/b%20c?d=e&d=f&g#h' | 'http://[::1]/' | '/p?q' | 'mailto:x' | '' | 'a b://'
        """,
    "lasting": r"""
        '1h30m' | '-1.5s' | '0' | '250ms' | '7us' | '1d' | '2562047h47m16.854775807s'
        """,
    "moment": r"""
        '2026-01-02T03:04:05Z' | '1969-12-31T23:59:59.5Z' | '2024-02-29T12:00:00+05:30'
        '2026-13-01T00:00:00Z'
        """,
    "zone": r"""
        'UTC' | '+05:30' | '-08:00' | 'Mars/Base' | ''
        """,
    "ints": r"""
        [] | [1, 2, 3] | [3, 1] | [2, 2] | [-1, 0, 5]
        """,
    "strings": r"""
        ['a', 'b'] | ['b', 'a', 'b'] | ['H100', ''] | [device.driver]
        """,
    "map": r"""
        {'a': 1, 'b': 2} | {} | {'a': 3}
        """,
    "maybe": r"""
        optional.of(1) | optional.none() | {'a': 1}[?'a'] | ATTRIBUTES[?'index'] | ATTRIBUTES.?none
        """,
    "attributes": r"""
        device.attributes['gpu.example.com'] | device.attributes['d'] | device.attributes['x']
        """,
    "any": r"""
        null | dyn(1) | dyn('a') | dyn([1]) | ATTRIBUTES.index | ATTRIBUTES.model | int | type('a')
        """,
}
FORMS = {
    "bool": """
        BOOL && BOOL | BOOL || BOOL | !BOOL | BOOL ? BOOL : BOOL | (BOOL && BOOL) || !(BOOL)
        NUMBER < NUMBER | NUMBER <= NUMBER | NUMBER > NUMBER | NUMBER >= NUMBER | NUMBER == NUMBER
        STRING == STRING | STRING != STRING | STRING < STRING | STRING >= STRING | STRING <= STRING
        BYTES == BYTES | BYTES < BYTES | BOOL == BOOL | BOOL > BOOL | ANY == ANY | ANY != ANY
        INTS == INTS | MAP == MAP | INTS == [INT, INT] | STRINGS != STRINGS | MAP == {'a': INT}
        STRING.startsWith(STRING) | STRING.endsWith(STRING) | STRING.contains(STRING)
        STRING.matches(PATTERN) | matches(STRING, PATTERN) | STRING in STRINGS | INT in INTS
        STRING in MAP | STRING in device.attributes | ANY in [ANY, ANY] | INT in [INT, INT]
        has(ATTRIBUTES.model) | has(MAP.a) | has(device.attributes) | has(device.capacity.d)
        INTS.all(x, x > INT) | INTS.exists(x, x == INT) | INTS.exists_one(x, x > INT || BOOL)
        INTS.all(i, v, v > i) | STRINGS.exists(s, s == STRING) | STRINGS.all(s, s.contains(STRING))
        MAP.all(k, k == STRING) | MAP.exists(k, v, v > INT) | INTS.exists(x, INT / x > 0)
        device.attributes.all(d, device.attributes[d].exists(a, a == STRING)) | STRINGS.exists_one(i, s, i > 0)
        INTS.isSorted() | STRINGS.isSorted() | sets.contains(INTS, INTS) | sets.intersects(INTS, INTS)
        sets.equivalent(STRINGS, STRINGS) | MAYBE.hasValue() | optional.ofNonZeroValue(INT).hasValue()
        bool(STRING) | type(ANY) == type(ANY) | type(NUMBER) == int | cel.bind(b, BOOL, b || !b && BOOL)
        isQuantity(AMOUNT) | QUANTITY.isGreaterThan(QUANTITY) | QUANTITY.isLessThan(QUANTITY)
        QUANTITY.isInteger() | isSemver(VERSION) | isSemver(VERSION, true) | SEMVER.isLessThan(SEMVER)
        SEMVER.isGreaterThan(SEMVER) | SEMVER == SEMVER | QUANTITY == QUANTITY | isIP(ADDRESS)
        ip.isCanonical(ADDRESS) | IP.isLoopback() | IP.isUnspecified() | IP.isGlobalUnicast()
        IP.isLinkLocalMulticast() | IP.isLinkLocalUnicast() | isCIDR(NETWORK) | CIDR.containsIP(ADDRESS)
        CIDR.containsIP(IP) | CIDR.containsCIDR(NETWORK) | CIDR.containsCIDR(CIDR) | isURL(LINK)
        IP == IP | DURATION < DURATION | DURATION >= DURATION | TIME < TIME | TIME == TIME
        ATTRIBUTES.model.includes(ANY) | ATTRIBUTES.sizes.includes(INT) | ANY | INTS.all(x, INTS.exists(y, x < y))
        """,
    "int": """
        INT + INT | INT - INT | INT * INT | INT / INT | INT % INT | -INT | -(INT) | INTS[INT]
        BOOL ? INT : INT | int(NUMBER) | int(STRING) | int(DURATION) | int(TIME) | MAP['a'] | MAP.b
        size(STRING) | STRING.size() | size(BYTES) | STRINGS.size() | size(MAP) | STRING.indexOf(STRING)
        STRING.indexOf(STRING, SMALL) | STRING.lastIndexOf(STRING) | STRING.lastIndexOf(STRING, SMALL)
        INTS.indexOf(INT) | INTS.lastIndexOf(INT) | INTS.min() | INTS.max() | INTS.sum()
        MAYBE.orValue(INT) | MAYBE.value() | MAYBE.or(MAYBE).orValue(INT) | sign(QUANTITY)
        MAYBE.optMap(x, x + INT).orValue(INT) | MAYBE.optFlatMap(x, optional.of(x)).orValue(INT)
        QUANTITY.asInteger() | QUANTITY.compareTo(QUANTITY) | SEMVER.compareTo(SEMVER) | SEMVER.major()
        SEMVER.minor() | SEMVER.patch() | IP.family() | CIDR.prefixLength() | DURATION.getHours()
        DURATION.getMinutes() | DURATION.getSeconds() | DURATION.getMilliseconds() | TIME.getFullYear()
        TIME.getMonth(ZONE) | TIME.getDate() | TIME.getDayOfMonth(ZONE) | TIME.getDayOfWeek(ZONE)
        TIME.getDayOfYear() | TIME.getHours(ZONE) | TIME.getMinutes() | TIME.getSeconds(ZONE)
        TIME.getMilliseconds() | cel.bind(n, INT, n + n * INT) | INT + INT * INT - INT
        """,
    "uint": "UINT + UINT | UINT - UINT | UINT * UINT | UINT / UINT | UINT % UINT | uint(NUMBER)",
    "double": """
        DOUBLE + DOUBLE | DOUBLE - DOUBLE | DOUBLE * DOUBLE | DOUBLE / DOUBLE | -DOUBLE
        double(NUMBER) | double(STRING) | QUANTITY.asApproximateFloat() | [DOUBLE, DOUBLE].max()
        [DOUBLE, DOUBLE].sum()
        """,
    "string": """
        STRING + STRING | STRING.lowerAscii() | STRING.upperAscii() | STRING.trim() | STRING.charAt(SMALL)
        STRING.substring(SMALL) | STRING.substring(SMALL, SMALL) | STRING.replace(STRING, STRING)
        STRING.replace(STRING, STRING, SMALL) | STRINGS.join() | STRINGS.join(STRING) | STRINGS[SMALL]
        STRING.find(PATTERN) | string(NUMBER) | string(BOOL) | string(BYTES) | string(DURATION)
        string(TIME) | string(IP) | string(CIDR) | string(CIDR.masked()) | string(CIDR.ip())
        URL.getScheme() | URL.getHost() | URL.getHostname() | URL.getPort() | URL.getEscapedPath()
        STRINGS.min() | STRINGS.max() | BOOL ? STRING : STRING | ATTRIBUTES[?'model'].orValue(STRING)
        cel.bind(s, STRING, s + s) | '%s %d'.format([ANY, INT]) | '%.2f %e'.format([DOUBLE, DOUBLE])
        '%x %X %o %b'.format([INT, STRING, INT, INT]) | '%s'.format([[ANY, BOOL]]) | '%s'.format([MAP])
        """,
    "bytes": "BYTES + BYTES | bytes(STRING)",
    "ints": """
        INTS + INTS | [INT, INT] | INTS.map(x, x * INT) | INTS.map(x, x > INT, x + 1) | [?MAYBE, INT]
        INTS.filter(x, x > INT) | MAP.map(k, MAP[k]) | INTS.transformList(i, v, i + v) | MAP.map(k, size(k))
        MAP.transformList(k, v, v > INT, v) | BOOL ? INTS : INTS | STRINGS.map(s, s.size())
        """,
    "strings": """
        STRINGS + STRINGS | [STRING, STRING] | STRING.split(STRING) | STRING.split(STRING, SMALL)
        STRING.findAll(PATTERN) | STRING.findAll(PATTERN, SMALL) | STRINGS.filter(s, s != STRING)
        MAP.map(k, k) | STRINGS.map(s, s + STRING) | URL.getQuery()['d']
        """,
    "map": """
        {STRING: INT} | {'a': INT, STRING: INT} | {?'a': MAYBE} | MAP.transformMap(k, v, v + INT)
        INTS.transformMapEntry(i, v, {string(v): i}) | MAP.transformMap(k, v, k == 'a', v)
        """,
    "any": "dyn(STRING) | dyn(INT) | dyn(BOOL) | dyn(DOUBLE) | dyn(INTS) | MAYBE.value() | [1, dyn(STRING)][SMALL]",
    "maybe": "optional.of(INT) | optional.ofNonZeroValue(INT) | MAP[?STRING] | MAP.?a | INTS[?SMALL] | MAYBE.or(MAYBE)",
}  # fmt: skip
ALWAYS = {
    "number": "INT | UINT | DOUBLE",
    "small": "0 | 1 | 2 | 3 | -1",
    "quantity": "quantity(AMOUNT) | quantity(AMOUNT).add(SMALL) | quantity(AMOUNT).sub(quantity(AMOUNT)) "
    "| device.capacity['gpu.example.com'].memory | quantity(AMOUNT).add(quantity(AMOUNT))",
    "semver": "semver(VERSION) | semver(VERSION, true) | ATTRIBUTES.driverVersion",
    "ip": "ip(ADDRESS) | CIDR.ip()",
    "cidr": "cidr(NETWORK) | cidr(NETWORK).masked()",
    "url": "url(LINK)",
    "duration": "duration(LASTING) | duration(LASTING) + duration(LASTING) | TIME - TIME",
    "time": "timestamp(MOMENT) | timestamp(MOMENT) + duration(LASTING) | timestamp(SMALL) - duration(LASTING)",
}
"""What has few forms, however deep."""
ROOTS = ("bool", "bool", "bool", "int", "string", "double", "uint", "bytes", "ints", "strings", "map", "any")
ODD = ("", "(", ")", "'", "\\", ".", "..", "?", "a", " ", "// x\n", "\n", "&", "0", "u", "[", "}", ",", "1e", "@")


def dice(number: int, what: str) -> Dice:
    """Give dice that roll alike for a number."""
    return Dice(Random(f"{what}{number}").randbytes(600))


def expression(number: int) -> str:
    """Write an expression; every eighth has a mistake."""
    one = dice(number, "expression")
    kind = one.pick(ROOTS)
    text = written(one, kind, one.between(1, DEEPEST))
    if kind not in ("bool", "any"):
        text = f"dyn({text})"
    if number % 8 == 7:
        place = one.below(len(text) + 1)
        text = text[:place] + one.pick(ODD) + text[place + one.below(3) :]
    return text


def written(one: Dice, kind: str, depth: int) -> str:
    """Write a value of a kind, with others inside it as deep."""
    deeper = {**LEAVES, **FORMS, **ALWAYS} if depth else {**LEAVES, **ALWAYS}
    forms = re.split(r" \| |\n", deeper[kind])

    def inside(found: re.Match[str]) -> str:
        text = written(one, found[0].lower(), max(0, depth - 1))
        return f"({text})" if " " in text and found.string[found.end() :][:1] in (".", "[") else text

    return _KIND.sub(inside, one.pick([form.strip() for form in forms if form.strip()]))


_KIND = re.compile(rf"\b({'|'.join({**LEAVES, **ALWAYS}).upper()})\b")


PIECES = tuple(
    r"""
    a b A B 1 _ - . ^ $ | ( ) * + ? [ ] { } \ , : (?i) (?s) (?m) (?U) (?: (?P<n> (?i: (?-i) [a-c] [^a] [[:alpha:]]
    [[:^digit:]] [\d_] [\W] \d \D \w \s \b \B \A \z \Q.a\E \Q \x41 \x{62} \n \. \07 {2} {1,2} {0,} {2}? *? +? ??
    []a] [a-] a|b (a)
    """.split()  # noqa: SIM905  # one piece a line would be a page
)


def pattern(number: int) -> str:
    """Write a pattern, or what is nearly one."""
    one = dice(number, "pattern")
    return "".join(one.pick(PIECES) for _ in range(one.between(1, 7)))
