"""Plain data as YAML, by whichever of PyYAML's emitters is quick and writes the same."""

from __future__ import annotations

import yaml

from numalign.render.escape import halved, in_yaml


def yaml_text(data: object) -> str:
    """Write plain data as YAML, each text on one line; odd ones stand in double quotes."""
    # libyaml is many times quicker, where PyYAML was built with it, and writes the same but for what is not plain.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper) if _is_plain(data) else yaml.SafeDumper
    return in_yaml(dumped(data, dumper))


def dumped(data: object, dumper: type[yaml.SafeDumper]) -> str:
    """Write plain data with an emitter of PyYAML; quotes what YAML itself would write as it is, or on several lines."""

    def represent_text(writer: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        odd = not text.isprintable() or "##" in text or text.startswith("::")
        return writer.represent_scalar("tag:yaml.org,2002:str", halved(text), style='"' if odd else None)

    quoting: type[yaml.SafeDumper] = type("Quoting", (dumper,), {})
    quoting.add_representer(str, represent_text)
    return str(yaml.dump(data, Dumper=quoting, sort_keys=False, allow_unicode=True, width=_NO_WIDTH))


_NO_WIDTH = 2**31 - 1
"""The longest line that libyaml can be allowed: no text is folded."""

_LONGEST_KEY = 100
"""Of longer keys some are written behind a question mark, and the emitters do not agree on which."""


def _is_plain(data: object) -> bool:
    """Tell whether every emitter writes the same: no sign beyond U+FFFF, no key that is empty, long or unprintable."""
    if isinstance(data, str):
        return data.isascii() or max(data) <= "\uffff"
    if isinstance(data, dict):
        return all(_is_plain_key(key) for key in data) and all(map(_is_plain, data.values()))
    return not isinstance(data, list | tuple) or all(map(_is_plain, data))


def _is_plain_key(key: object) -> bool:
    return isinstance(key, str) and 0 < len(key) <= _LONGEST_KEY and key.isprintable() and _is_plain(key)
