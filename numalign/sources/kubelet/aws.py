"""EKS: NodeConfig, user data, `bootstrap.sh`, Karpenter's EC2NodeClass, eksctl, Bottlerocket (clouds.md 1.1-1.4)."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from numalign.analysis.config.instances import limits_of
from numalign.analysis.config.system import Facts, Fields, System
from numalign.analysis.config.system_bases import eks
from numalign.analysis.config.systems import AL2, BOTTLEROCKET, NODECONFIG, OKE
from numalign.errors import InputError, Notice
from numalign.sources.kubelet.command_line import flags_of_words
from numalign.sources.kubelet.fields import Where
from numalign.sources.kubelet.found import Found, below, joined, not_taken, overlaid, renamed, under, words
from numalign.sources.text import elements, inside, mapping
from numalign.sources.text.yaml import Document, load_documents


def node_config(document: Document, path: str = "spec.kubelet") -> Found:
    """Read a NodeConfig, or another object with `config` and `flags` at a path."""
    kubelet = mapping(document.data, *path.split("."))
    found = below(document, mapping(kubelet, "config"), f"{path}.config")
    expression = kubelet.get("maxPodsExpression")
    pods = partial(_evaluated, expression) if isinstance(expression, str) else None
    return found._replace(
        flags=flags_of_words(words(kubelet.get("flags"))),
        system=NODECONFIG,
        base=partial(eks, pods=pods) if pods else None,
    )


_OPERATORS: Final[Mapping[type, Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
}


def _evaluated(text: str, facts: Facts) -> int | None:
    """Evaluate a `maxPodsExpression` of plain arithmetic; None: it is more, or depends on what is unknown (1, 4)."""
    limits = limits_of(facts.instance) if facts.instance else None
    names = {"max_pods": facts.network_pods}
    if limits:
        names |= {"default_enis": limits[0], "ips_per_eni": limits[1]}

    def value(node: ast.AST) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name) and (found := names.get(node.id)) is not None:
            return found
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(text)

    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


# User data


def user_data(text: str, name: str) -> list[Found]:
    """Read what an instance is started with: MIME, a NodeConfig, TOML of Bottlerocket, or a script (5, 14).

    Raises:
        InputError: a part of it cannot be read.
    """
    start = text.lstrip()
    if start[:13].lower() in ("mime-version:", "content-type:"):
        return _mime(start, name)
    if start.startswith("#!"):
        return script(text, name)
    if is_toml(text):
        return [bottlerocket_file(text, name)]
    return _node_configs(text, name)


def _node_configs(text: str, name: str) -> list[Found]:
    documents = load_documents(text, name, last=True)
    return [node_config(one) for one in documents if inside(one.data, "kind") == "NodeConfig"]


def _mime(text: str, name: str) -> list[Found]:
    """Read the parts of a MIME message; several NodeConfigs merge in order."""
    from email.parser import Parser

    message = Parser().parsestr(text)
    if not message.is_multipart():
        raise InputError("expected parts with a boundary in Content-Type", name)
    found: list[Found] = []
    for part in message.walk():
        content = part.get_payload(decode=True)
        if not isinstance(content, bytes):
            continue
        inner = content.decode("utf-8", "replace")
        if part.get_content_type() == "application/node.eks.aws":
            found += _node_configs(inner, name)
        elif part.get_content_type() == "text/x-shellscript":
            found += script(inner, name)
    return found


_ARGS: Final = re.compile(r"--kubelet-extra-args[ =]+(?:'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|(\S+))")
_STARTS: Final = re.compile(r"bootstrap\.sh\b|oke-init\.sh|\boke bootstrap\b")


def script(text: str, name: str) -> list[Found]:
    """Read the arguments of a kubelet in a script that starts a node of EKS AL2 (6) or OKE (45); empty: none."""
    plain = text.replace("\\\n", " ")
    called = _STARTS.search(plain)
    match = _ARGS.search(plain) if called else None
    if called is None:
        return []
    flags = flags_of_words((match[1] or match[2] or match[3] or "").split()) if match else {}
    notices = []
    if "kubelet-config.json" in text and "jq" in text:
        said = "the script also changes kubelet-config.json, which is not read"
        notices.append(Notice("settings-incomplete", said, name))
    system, base = (OKE, None) if "oke" in called[0] else (AL2, partial(eks, cgroups="reserved-cpus" not in flags))
    return [Found({}, lambda field: f"{name}: {field}", flags, tuple(notices), system=system, base=base)]


# Bottlerocket


def is_toml(text: str) -> bool:
    """Tell whether a text is TOML of Bottlerocket, by its first line that says something."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(("#", "%{"))), "")
    return first.startswith(("[settings", "settings."))


def bottlerocket_file(text: str, name: str) -> Found:
    """Read TOML; what a template has yet to expand counts as a text (10).

    Raises:
        InputError: it is no TOML.
    """
    import tomllib

    quoted = re.sub(r"(?m)^(\s*[\w.\"-]+\s*=\s*)(\$\{[^}\n]*\}|%[sd])\s*$", r'\1"\2"', text)
    try:
        data = tomllib.loads(quoted)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}", name) from None
    return bottlerocket(mapping(data, "settings", "kubernetes"), lambda path: f"{name}: settings.kubernetes.{path}")


def bottlerocket(settings: Fields, where: Where) -> Found:
    """Read the table `settings.kubernetes` of Bottlerocket, and do with it as its template does (8, 0.4)."""
    found = renamed(BOTTLEROCKET, settings, where)
    fields = dict(found.fields)
    notices = list(found.notices)
    names = fields.get("cpuManagerPolicyOptions")
    if isinstance(names, list):
        lost = [one for one in names if one not in _CPU_OPTIONS]
        notices += [
            not_taken("Bottlerocket", "cpu-manager-policy-options", where, f"does not take {one}") for one in lost
        ]
        fields["cpuManagerPolicyOptions"] = {str(one): "true" for one in names if one in _CPU_OPTIONS}
    options = fields.get("topologyManagerPolicyOptions")
    if isinstance(options, Mapping):
        fields["topologyManagerPolicyOptions"] = {
            key: str(value).lower() for key, value in options.items() if value not in (False, "false")
        }
    reserved = fields.pop("reservedMemory", None)
    nodes = {key: one for key, one in mapping({"": reserved}, "").items() if isinstance(one, Mapping)}
    enabled = {key: one for key, one in nodes.items() if str(one.get("enabled")).lower() == "true"}
    if any(name.startswith("hugepages-") for one in enabled.values() for name in one):
        why = "leaves huge pages out of reservedMemory; before February 2026 these kept the kubelet from starting"
        notices.append(not_taken("Bottlerocket", "memory-manager-reserved-memory", where, why))
    if enabled:
        fields["reservedMemory"] = [
            {"numaNode": int(key) if key.isdecimal() else -1, "limits": {"memory": one["memory"]}}
            for key, one in sorted(enabled.items(), key=lambda item: item[0].rjust(9))
            if "memory" in one
        ]
    elif "memoryManagerPolicy" in fields:
        del fields["memoryManagerPolicy"]
        why = "drops the policy unless a NUMA node in memory-manager-reserved-memory has enabled = true"
        notices.append(not_taken("Bottlerocket", "memory-manager-policy", where, why))
    return found._replace(fields=fields, notices=tuple(notices), complete=found.complete or bool(notices))


_CPU_OPTIONS: Final = frozenset(
    {"full-pcpus-only", "strict-cpu-reservation", "distribute-cpus-across-numa", "prefer-align-cpus-by-uncorecache"}
)


# Karpenter


# eksctl


def eksctl(document: Document) -> Iterator[Found]:
    """Read a ClusterConfig: its node groups (18)."""
    version = str(inside(document.data, "metadata", "version") or "")
    for kind in ("nodeGroups", "managedNodeGroups"):
        for place, group in enumerate(elements(document.data, kind)):
            found = _group(document, group, f"{kind}[{place}]", managed=kind == "managedNodeGroups")
            if found is not None:
                yield found._replace(
                    name=str(group.get("name", "")), version=version, instance=str(group.get("instanceType") or "")
                )


def _group(document: Document, group: Fields, path: str, *, managed: bool) -> Found | None:
    family = str(group.get("amiFamily") or "AmazonLinux2023")
    extra = mapping(group, "kubeletExtraConfig")
    where = under(document, path)
    if family == "Bottlerocket":
        settings = mapping(group, "bottlerocket", "settings", "kubernetes")
        found = bottlerocket(settings, under(document, f"{path}.bottlerocket.settings.kubernetes"))
        lost = (not_taken("eksctl with Bottlerocket", "kubeletExtraConfig", where),) if extra else ()
        return found._replace(notices=(*found.notices, *lost)) if settings or extra else None
    parts: list[Found] = []
    if extra and managed:
        why = "does not take it in managedNodeGroups; fix: move it to overrideBootstrapCommand"
        parts.append(Found({}, where, notices=(not_taken("eksctl", "kubeletExtraConfig", where, why),), complete=True))
    elif extra:
        known = {name: value for name, value in extra.items() if name not in _FORBIDDEN}
        lost_ones = [not_taken("eksctl", name, where, "does not allow it") for name in extra if name in _FORBIDDEN]
        parts.append(below(document, known, f"{path}.kubeletExtraConfig")._replace(notices=tuple(lost_ones)))
    text = group.get("overrideBootstrapCommand")
    parts += user_data(text, document.name) if isinstance(text, str) else []
    if not parts:
        return None
    system: System = AL2 if family == "AmazonLinux2" else NODECONFIG
    found = joined(parts)
    pods = group.get("maxPodsPerNode")
    fields = overlaid(found.fields, {"maxPods": pods}) if type(pods) is int else found.fields
    return found._replace(fields=fields, system=system)


_FORBIDDEN: Final = frozenset(
    {"kind", "apiVersion", "address", "clusterDomain", "authentication", "authorization", "serverTLSBootstrap"}
)
