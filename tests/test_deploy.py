"""The manifests of `deploy/`: `nrt export` writes what the resource definition allows; the extender is as deployed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from numalign.cli.commands.serve import command as serve
from numalign.cli.commands.verify import command as verify
from numalign.server.app import VERBS
from numalign.server.service import PROBES
from numalign.sources.cluster.watch import KINDS
from tests import documents
from tests.api_server import structural_faults, validator
from tests.cli.running import ROOT, in_process

DEPLOY = ROOT / "deploy"
OBJECTS = sorted((ROOT / "tests/sources/cluster/objects").glob("*.yaml"))


@cache
def definition() -> dict[str, Any]:
    found: dict[str, Any] = documents.one((DEPLOY / "crd.yaml").read_text())
    return found


def schema_of(version: str) -> dict[str, Any]:
    versions = {one["name"]: one["schema"]["openAPIV3Schema"] for one in definition()["spec"]["versions"]}
    found: dict[str, Any] = versions[version]
    return found


def refusals(version: str, thing: object) -> list[str]:
    """Say why an API server would refuse an object."""
    return [f"{error.json_path}: {error.message}" for error in validator(schema_of(version)).iter_errors(thing)]


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_the_schema_is_structural(version: str) -> None:
    assert structural_faults(schema_of(version)) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"type": "array"}, ": expected items, one schema"),
        ({"properties": {"x": {}}}, ".x: expected a type, or x-kubernetes-int-or-string"),
        (
            {"properties": {"metadata": {"type": "object", "properties": {"uid": {"type": "string"}}}}},
            ".metadata: only",
        ),
        ({"additionalProperties": False}, ": additionalProperties beside properties, or false"),
        ({"anyOf": [{"type": "object"}]}, ".anyOf: type stands inside"),
        ({"required": ["colour"]}, ": colour is required and not described"),
        ({"$ref": "#/x"}, ": $ref is forbidden"),
    ],
    ids=str,
)
def test_a_schema_that_is_not_structural_is_found(change: dict[str, Any], fault: str) -> None:
    assert any(found.startswith(fault) for found in structural_faults(schema_of("v1alpha2") | change))


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
    assert refusals("v1alpha2", documents.one(done.out)) == []


@pytest.mark.parametrize("source", ["cluster.yaml", "reserved.yaml"])
@pytest.mark.parametrize("like", ["numalign", "rte", "nfd"])
def test_every_export_of_a_cluster_is_valid(source: str, like: str) -> None:
    done = in_process("nrt", "export", "--cluster", f"docs/examples/cluster/{source}", "--like", like, "-o", "json")
    objects = done.json["items"] if done.json["kind"] == "List" else [done.json]
    assert [refusals("v1alpha2", one) for one in objects] == [[]] * len(objects)


@pytest.mark.parametrize("file", OBJECTS, ids=lambda path: path.name)
def test_public_objects_are_valid(file: Path) -> None:
    document = documents.one(file.read_text())
    for one in document["items"] if document["kind"] == "List" else [document]:
        version = one["apiVersion"].partition("/")[2]
        assert refusals(version if version == "v1alpha1" else "v1alpha2", one) == []


def exported(**change: object) -> dict[str, Any]:
    resource = {"name": "cpu", "capacity": 4, "allocatable": "4", "available": "3500m"} | change
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": "n"},
        "zones": [
            {
                "name": "node-0",
                "type": "Node",
                "costs": [{"name": "node-0", "value": 10}],
                "resources": [{key: value for key, value in resource.items() if value is not None}],
            }
        ],
    }


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (exported(), None),
        (exported(capacity="1e3", available="-1", allocatable=".5Gi"), None),
        (exported(available=None), "'available' is a required property"),
        (exported(available="4 CPUs"), "'4 CPUs' does not match"),
        (exported(available=3.5), "3.5 is not valid under any"),
        (exported(colour="red"), "'colour' was unexpected"),
        (exported() | {"zones": [{"name": "node-0"}]}, "'type' is a required property"),
        (exported() | {"zones": None}, "not nullable"),
        (exported() | {"attributes": [{"name": "x", "value": 8}]}, "8 is not of type 'string'"),
        (
            exported() | {"zones": [{"name": "a", "type": "b", "costs": [{"name": "a", "value": 2**63}]}]},
            "not a 'int64'",
        ),
        ({"kind": "NodeResourceTopology"}, "'zones' is a required property"),
    ],
)
def test_what_an_api_server_refuses(thing: dict[str, Any], said: str | None) -> None:
    found = refusals("v1alpha2", thing)
    assert (not found) if said is None else any(said in one for one in found)


def test_the_older_version_wants_the_old_list_of_policies() -> None:
    older = exported() | {"apiVersion": "topology.node.k8s.io/v1alpha1"}
    assert refusals("v1alpha1", older) == ["$: 'topologyPolicies' is a required property"]
    assert refusals("v1alpha1", older | {"topologyPolicies": ["None"]}) == []


def test_the_exporter_runs_a_command_that_exists_with_flags_that_exist() -> None:
    daemon_set = documents.one((DEPLOY / "daemonset.yaml").read_text())
    container = daemon_set["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["numalign"]
    flags = [one.partition("=")[0] for one in container["args"][2:]]
    known = in_process(*container["args"][:2], "--help-all").out
    assert [flag for flag in flags if flag not in known] == []


def test_the_exporter_may_do_what_server_side_apply_needs() -> None:
    objects = documents.each((DEPLOY / "rbac.yaml").read_text())
    role = next(one for one in objects if one["kind"] == "ClusterRole")
    assert role["rules"] == [
        {
            "apiGroups": ["topology.node.k8s.io"],
            "resources": ["noderesourcetopologies"],
            "verbs": ["get", "create", "patch"],
        }
    ]


def test_the_scheduler_asks_the_extender_only_what_it_answers() -> None:
    """E-10: no bind verb. E-4, E-5: `ignorable`, so that pods are scheduled where the extender fails or is late."""
    (one,) = documents.one((DEPLOY / "extender/scheduler.yaml").read_text())["extenders"]

    assert {key: one[key] for key in one if key.endswith("Verb")} == {f"{verb}Verb": verb for verb in VERBS}
    assert one["ignorable"]
    assert one["nodeCacheCapable"]
    assert one["urlPrefix"] == "https://numalign.kube-system.svc:8899/v1"
    assert one["enableHTTPS"]
    assert set(one["tlsConfig"]) == {"caFile", "certFile", "keyFile"}


def test_the_extender_is_deployed_with_flags_it_knows_where_the_scheduler_calls_it() -> None:
    deployment, service = documents.each((DEPLOY / "extender/deployment.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    verb, *flags = container["args"]

    assert verb == "serve"
    values = serve.make_context("serve", list(flags)).params
    assert values["listen"] == f"0.0.0.0:{container['ports'][0]['containerPort']}"
    assert service["spec"]["ports"][0]["port"] == container["ports"][0]["containerPort"]
    assert service["spec"]["selector"] == deployment["spec"]["template"]["metadata"]["labels"]
    assert (service["metadata"]["name"], service["metadata"]["namespace"]) == ("numalign", "kube-system")
    mounted = tuple(mount["mountPath"] + "/" for mount in container["volumeMounts"])
    assert values["watch"] == "in-cluster"
    files = [values["tls_cert"], values["tls_key"], values["client_ca"]]
    assert all(file.startswith(mounted) for file in files)
    assert not values["insecure_listen"]


def test_the_extender_may_list_and_watch_what_it_watches_and_no_more() -> None:
    account, role, binding = documents.each((DEPLOY / "extender/rbac.yaml").read_text())
    deployment = next(iter(documents.each((DEPLOY / "extender/deployment.yaml").read_text())))
    allowed = {
        f"/{'apis/' + group + '/' if group else 'api/'}": (rule["resources"], rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
    }
    wanted: dict[str, list[str]] = {}
    for kind in KINDS:
        *group, _version, resource = kind.path.split("/")
        wanted.setdefault("/".join(group) + "/", []).append(resource)

    assert allowed == {group: (resources, ["list", "watch"]) for group, resources in wanted.items()}
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    (subject,) = binding["subjects"]
    assert subject == {"kind": "ServiceAccount", **account["metadata"]}
    assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == account["metadata"]["name"]
    assert deployment["metadata"]["namespace"] == account["metadata"]["namespace"]


def pods_of_deploy() -> list[dict[str, Any]]:
    found = [one for path in sorted(DEPLOY.glob("**/*.yaml")) for one in documents.each(path.read_text())]
    return [one["spec"]["template"]["spec"] for one in found if one.get("kind") in ("DaemonSet", "Deployment")]


def test_pods_have_a_seccomp_profile_a_digest_and_no_more_rights_than_they_need() -> None:
    pods = pods_of_deploy()
    assert len(pods) == 3
    for pod in pods:
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostIPC"} & set(pod)
        for container in pod["containers"]:
            assert re.fullmatch(r"[a-z/.]+@sha256:[0-9a-f]{64}", container["image"])
            context = container["securityContext"]
            assert (context["allowPrivilegeEscalation"], context["readOnlyRootFilesystem"]) == (False, True)
            assert context["capabilities"]["drop"] == ["ALL"]
            folders = {one["name"] for one in pod["volumes"] if "hostPath" in one and one["name"] != "textfile"}
            assert all(mount["readOnly"] for mount in container["volumeMounts"] if mount["name"] in folders)
            assert not [mount for mount in container["volumeMounts"] if "subPath" in mount]


def test_the_exporter_sees_folders_of_its_host_not_single_files() -> None:
    (exporter,) = (pod for pod in pods_of_deploy() if pod.get("serviceAccountName") == "exporter")
    paths = {volume["hostPath"]["path"] for volume in exporter["volumes"] if "hostPath" in volume}

    assert paths == {"/var/lib/kubelet", "/sys"}


def test_only_what_verifies_sees_processes_of_its_host_writes_one_folder_and_has_no_token() -> None:
    namespace, daemon_set = documents.each((DEPLOY / "verify/daemonset.yaml").read_text())
    pod = daemon_set["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
    (written,) = (mount for mount in container["volumeMounts"] if not mount.get("readOnly"))
    verb, *flags = container["args"]
    values = verify.make_context("verify", list(flags)).params

    assert [one.get("hostPID", False) for one in pods_of_deploy()].count(True) == 1
    assert pod["hostPID"]
    assert pod["automountServiceAccountToken"] is False
    assert paths["kubelet"] == "/var/lib/kubelet"
    read = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"] if mount != written}
    assert read == {name: path for name, path in paths.items() if name != "textfile"}  # as numalign looks for them
    assert (verb, written["name"]) == ("verify", "textfile")
    assert values["textfile"] == f"{written['mountPath']}/numalign.prom"
    assert (values["every"], values["listen"]) == (60, None)
    assert documents.each((DEPLOY / "rbac.yaml").read_text())[0] == namespace


def test_the_probes_of_the_extender_ask_what_needs_no_certificate() -> None:
    deployment, _ = documents.each((DEPLOY / "extender/deployment.yaml").read_text())
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    probes = [container[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")]

    assert [one["path"] for one in probes] == list(PROBES)
    assert {one["scheme"] for one in probes} == {"HTTPS"}


def test_an_exporter_may_write_the_object_of_its_own_node_only() -> None:
    objects = {one["kind"]: one for one in documents.each((DEPLOY / "rbac.yaml").read_text())}
    role, policy = objects["ClusterRole"]["rules"][0], objects["ValidatingAdmissionPolicy"]
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    account = objects["ServiceAccount"]["metadata"]

    assert (rule["apiGroups"], rule["resources"]) == (role["apiGroups"], role["resources"])
    assert rule["operations"] == ["CREATE", "UPDATE"]  # a patch is one of the two
    assert set(role["verbs"]) == {"get", "create", "patch"}
    user = f"system:serviceaccount:{account['namespace']}:{account['name']}"
    assert policy["spec"]["matchConditions"][0]["expression"] == f'request.userInfo.username == "{user}"'
    assert "authentication.kubernetes.io/node-name" in policy["spec"]["validations"][0]["expression"]
    assert policy["spec"]["failurePolicy"] == "Fail"
    binding = objects["ValidatingAdmissionPolicyBinding"]["spec"]
    assert binding == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
    labels = objects["Namespace"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"
