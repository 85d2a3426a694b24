"""Patterns in RE2's syntax, run over a text in time that grows with pattern times text."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from numalign.dra.cel.errors import CostError, EvaluationError
from numalign.dra.cel.regex_syntax import MAX_PROGRAM, PatternReader, RegexError, Step, Tree
from numalign.dra.cel.values import Value

MAX_WORK: Final = 1_000_000
"""Most steps one call may take; texts of attributes (64 characters) need a few hundred."""

Span = tuple[int, int]


@lru_cache(maxsize=256)
def program(pattern: str) -> tuple[Step, ...]:
    """Read a pattern.

    Raises:
        RegexError: it is no pattern, or becomes too large.
    """
    steps: list[Step] = []
    _emit(PatternReader(pattern).read(), steps)
    steps.append(Step("match"))
    return tuple(steps)


def search(pattern: str, text: str) -> Span | None:
    """Find the first place where a pattern matches.

    Raises:
        EvaluationError: no pattern.
        CostError: it took too many steps.
    """
    try:
        return _run(program(pattern), text, 0, [MAX_WORK])
    except RegexError as error:
        raise EvaluationError(f"error parsing regexp: {error}: `{pattern}`") from None


def find_all(pattern: str, text: str, limit: int = -1) -> list[Span]:
    """Find all places where a pattern matches, none of them overlapping; at most `limit`, if it is not negative."""
    found: list[Span] = []
    work = [MAX_WORK]
    try:
        steps = program(pattern)
    except RegexError as error:
        raise EvaluationError(f"error parsing regexp: {error}: `{pattern}`") from None
    position = 0
    last: int | None = None
    while position <= len(text) and (limit < 0 or len(found) < limit):
        span = _run(steps, text, position, work)
        if span is None:
            break
        if span != (last, last):
            found.append(span)
        last = span[1]
        position = span[1] if span[1] > span[0] else span[1] + 1
    return found


def _emit(tree: Tree, steps: list[Step]) -> None:
    """Write the steps of a tree; each goes on with the one after it."""
    if len(steps) > MAX_PROGRAM:
        raise RegexError("expression nests or repeats too much")
    kind: Value = tree[0]
    parts: tuple[Value, ...] = tree[1:]
    if kind == "chars":
        steps.append(Step("take", chars=parts[0], first=len(steps) + 1))
    elif kind == "place":
        steps.append(Step("assert", place=parts[0], first=len(steps) + 1))
    elif kind == "chain":
        for part in parts:
            _emit(part, steps)
    elif kind == "either":
        _emit_either(parts, steps)
    else:
        part, low, high, greedy = parts
        for _ in range(low):
            _emit(part, steps)
        if high < 0:
            _emit_loop(part, greedy, steps)
        else:
            _emit_some(part, high - low, greedy, steps)


def _emit_either(parts: tuple[Value, ...], steps: list[Step]) -> None:
    jumps: list[int] = []
    for part in parts[:-1]:
        fork = len(steps)
        steps.append(Step("split"))
        _emit(part, steps)
        jumps.append(len(steps))
        steps.append(Step("split"))
        steps[fork] = Step("split", first=fork + 1, second=len(steps))
    _emit(parts[-1], steps)
    for jump in jumps:
        steps[jump] = Step("split", first=len(steps), second=len(steps))


def _emit_loop(part: Tree, greedy: bool, steps: list[Step]) -> None:
    fork = len(steps)
    steps.append(Step("split"))
    _emit(part, steps)
    steps.append(Step("split", first=fork, second=fork))
    ways = (fork + 1, len(steps)) if greedy else (len(steps), fork + 1)
    steps[fork] = Step("split", first=ways[0], second=ways[1])


def _emit_some(part: Tree, count: int, greedy: bool, steps: list[Step]) -> None:
    forks: list[int] = []
    for _ in range(count):
        forks.append(len(steps))
        steps.append(Step("split"))
        _emit(part, steps)
    for fork in forks:
        ways = (fork + 1, len(steps)) if greedy else (len(steps), fork + 1)
        steps[fork] = Step("split", first=ways[0], second=ways[1])


def _run(steps: tuple[Step, ...], text: str, start: int, work: list[int]) -> Span | None:
    """Follow all ways at once, the preferred ones first, until no way can beat the match that was found."""
    found: Span | None = None
    threads: list[Span] = []
    """(step, where the match began), preferred ones first."""
    for position in range(start, len(text) + 1):
        if found is None:
            threads.append((0, position))
        elif not threads:
            break
        current = _spread(steps, threads, text, position, work)
        threads = []
        char = text[position : position + 1]
        for at, begun in current:
            step = steps[at]
            if step.kind == "match":
                found = (begun, position)
                break
            if char and step.chars.has(ord(char)):
                threads.append((step.first, begun))
    return found


def _spread(steps: tuple[Step, ...], threads: list[Span], text: str, position: int, work: list[int]) -> list[Span]:
    """Go on from each thread to the steps that take a character."""
    seen: set[int] = set()
    found: list[Span] = []
    stack = [(at, begun) for at, begun in reversed(threads)]
    while stack:
        at, begun = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        step = steps[at]
        if step.kind == "split":
            stack.append((step.second, begun))
            stack.append((step.first, begun))
        elif step.kind != "assert":
            found.append((at, begun))
        elif _holds(step.place, text, position):
            stack.append((step.first, begun))
    work[0] -= len(seen)
    if work[0] < 0:
        raise CostError(f"a pattern took more than {MAX_WORK} steps")
    return found


def _holds(place: str, text: str, position: int) -> bool:
    if place == "^":
        return position == 0
    if place == "$":
        return position == len(text)
    if place == "m^":
        return position == 0 or text[position - 1] == "\n"
    if place == "m$":
        return position == len(text) or text[position] == "\n"
    before = position > 0 and _is_word(text[position - 1])
    after = position < len(text) and _is_word(text[position])
    return (before != after) == (place == "b")


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
