"""The manifests of `deploy/`: what `nrt export` writes is what the resource definition allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.cli.running import ROOT, in_process

DEPLOY = ROOT / "deploy"
OBJECTS = sorted((ROOT / "tests/sources/cluster/objects").glob("*.yaml"))


def definition() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "crd.yaml").read_text())
    return found


def validator(version: str) -> jsonschema.Draft202012Validator:
    """Judge as an API server does: an `x-kubernetes-int-or-string` has its pattern only where it is text."""
    versions = {one["name"]: one["schema"]["openAPIV3Schema"] for one in definition()["spec"]["versions"]}
    schema = closed(versions[version])
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def closed(schema: Any) -> Any:
    """Refuse keys that the schema does not name, as `kubectl apply --validate=strict` does."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    return {**result, "additionalProperties": False} if "properties" in schema else result


def test_the_definition_is_one_that_an_api_server_takes() -> None:
    """A group under k8s.io needs the annotation; one version is stored; the name is plural and group."""
    crd = definition()
    names, group = crd["spec"]["names"], crd["spec"]["group"]
    assert crd["metadata"]["name"] == f"{names['plural']}.{group}"
    approved = "https://github.com/kubernetes/enhancements/pull/1870"
    assert crd["metadata"]["annotations"]["api-approved.kubernetes.io"] == approved
    assert [(one["name"], one["served"], one["storage"]) for one in crd["spec"]["versions"]] == [
        ("v1alpha1", True, False),
        ("v1alpha2", True, True),
    ]


@pytest.mark.parametrize("machine", ["figure-1", "hgx-h100", "power9-2s-sparse-ids", "xeon-2s-cxl"])
@pytest.mark.parametrize(
    "more", [(), ("--like", "rte"), ("--like", "nfd"), ("--placement",), ("--no-fingerprint",)], ids=str
)
def test_every_export_is_valid(machine: str, more: tuple[str, ...]) -> None:
    done = in_process("nrt", "export", "--machine", machine, "--policy", "restricted", *more)
    validator("v1alpha2").validate(yaml.safe_load(done.out))


@pytest.mark.parametrize("file", OBJECTS, ids=lambda path: path.name)
def test_public_objects_are_valid(file: Path) -> None:
    document = yaml.safe_load(file.read_text())
    for one in document["items"] if document["kind"] == "List" else [document]:
        version = one["apiVersion"].partition("/")[2]
        validator(version if version == "v1alpha1" else "v1alpha2").validate(one)


@pytest.mark.parametrize("broken", [{"zones": [{"name": "node-0"}]}, {}, {"zones": [], "colour": 1}])
def test_what_is_no_object_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validator("v1alpha2").validate(broken)


def test_the_exporter_runs_a_command_that_exists_with_flags_that_exist() -> None:
    daemon_set = yaml.safe_load((DEPLOY / "daemonset.yaml").read_text())
    container = daemon_set["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["numalign"]
    flags = [one.partition("=")[0] for one in container["args"][2:]]
    known = in_process(*container["args"][:2], "--help").out
    assert [flag for flag in flags if flag not in known] == []


def test_the_exporter_may_do_what_server_side_apply_needs() -> None:
    documents = list(yaml.safe_load_all((DEPLOY / "rbac.yaml").read_text()))
    role = next(one for one in documents if one["kind"] == "ClusterRole")
    assert role["rules"] == [
        {
            "apiGroups": ["topology.node.k8s.io"],
            "resources": ["noderesourcetopologies"],
            "verbs": ["get", "create", "patch"],
        }
    ]
