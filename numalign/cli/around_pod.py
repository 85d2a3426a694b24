"""What kubectl asks a cluster about a pod and its node, as files that the other commands read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

from numalign.cli.asked_by_kubectl import inside, there_then
from numalign.cli.kubectl_calls import Kubectl
from numalign.cli.stderr import say
from numalign.errors import InputError
from numalign.model.path import FieldError, dotted
from numalign.sources.text.json import loads


def write_file(folder: str, name: str, text: str) -> str:
    """Write a text into a folder; returns the path."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def node_of(pod: Mapping[str, object], name: str) -> str:
    """Name the node of a pod.

    Raises:
        InputError: no node is chosen for it.
    """
    where = inside(pod, "spec").get("nodeName")
    if where is None:
        raise InputError("the pod has no node yet; fix: run kubectl numalign schedule", f"pod {name}")
    if not isinstance(where, str) or len(where) > 253 or not NAME.fullmatch(where):
        raise InputError("spec.nodeName is not a valid node name", f"pod {name}")
    return where


NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class AroundPod:
    """Asks for what is around a pod, writes it into files, and notes what cannot be known."""

    def __init__(self, kubectl: Kubectl, folder: str, node: str, pod: Mapping[str, object]) -> None:
        self.kubectl = kubectl
        self.folder = folder
        self.node = node
        self.pod = pod
        self.unknown: list[str] = []
        self._nrt: str | None = None

    def write(self, name: str, data: object) -> str:
        """Write a file of JSON; returns its path."""
        return write_file(self.folder, name, json.dumps(data))

    def arguments(self, machine: str | None) -> list[str]:
        """Ask for the node, the kubelet's settings, the other pods, and the machine if none is given."""
        version = self._release()
        config = self.kubectl.try_get(
            "the kubelet's settings are not readable", "get", "--raw", f"/api/v1/nodes/{self.node}/proxy/configz"
        )
        settings = [] if config is None else ["--kubelet-config", write_file(self.folder, "configz.json", config)]
        beside = self._beside()
        if machine is None or config is None:
            words = ("get", "noderesourcetopologies", self.node, "-o", "json")
            self._nrt = self.kubectl.try_get("the node has no NodeResourceTopology object", *words)
        if machine is None and self._nrt is None:
            raise InputError("its hardware is unknown; fix: add --machine", f"node {self.node}")
        hardware = ["--machine", machine or _machine_file(self.folder, self.node, self._nrt or "")]
        if machine is None:
            self.unknown.append("CPU ids and distances of the machine (its topology object has amounts)")
        return [*version, *(settings or self._policies()), *beside, *hardware]

    def _release(self) -> list[str]:
        """Name the node's own kubelet."""
        words = ("get", "node", self.node, "-o", "json")
        text = self.kubectl.try_get("the release of the kubelet is not readable", *words)
        version = inside(inside(_parsed(text), "status"), "nodeInfo").get("kubeletVersion")
        if not isinstance(version, str):
            self.unknown.append(f"release of the kubelet of {self.node}")
            return []
        return _version_flags(version)

    def _policies(self) -> list[str]:
        """Take policy and scope from the node's topology object, where the kubelet's settings are not readable."""
        from numalign.scheduler.nrt.value import CPU_MANAGER, attribute, manager_config
        from numalign.sources.cluster.nrt import read_nrt

        thing = _parsed(self._nrt)
        if not isinstance(thing, Mapping):
            say("the kubelet's settings are unknown: used ideal defaults", "note: ")
            self.unknown.append("kubelet settings (used ideal defaults)")
            return []
        try:
            nrt = read_nrt(thing).nrt
        except FieldError as error:
            raise InputError(f"{dotted(error.path)}: {error.message}", f"topology object of {self.node}") from None
        manager, cpus = manager_config(nrt), attribute(nrt.attributes, CPU_MANAGER)
        say("policy and scope come from the node's topology object; other settings are ideal defaults", "note: ")
        self.unknown.append("kubelet settings but policy and scope (used ideal defaults)")
        known = ["--cpu-manager-policy", cpus] if cpus in ("none", "static") else []
        return ["--policy", manager.policy, "--scope", manager.scope, *known]

    def _beside(self) -> list[str]:
        """Ask for the other pods, and take those that were there when the kubelet decided."""
        words = ("get", "pods", "-A", f"--field-selector=spec.nodeName={self.node}", "-o", "json")
        text = self.kubectl.try_get("the pods of the node are not readable: the node counts as empty", *words)
        if text is None:
            self.unknown.append("pods on the node (the node counts as empty)")
            return []
        answer = _parsed(text)
        listed = answer.get("items") or [] if isinstance(answer, Mapping) else None
        if not isinstance(listed, list):
            raise InputError("kubectl did not answer with a list of pods", f"node {self.node}")
        there = there_then(self.pod, listed)
        if there.later or there.ended:
            counts = f"skipped {there.later} pods that started later, counted {there.ended} that have ended since"
            say(f"as of {there.at}, the time of the kubelet's decision: {counts}", "note: ")
        if there.pods:
            self.unknown.append("CPUs and devices of the running pods (numalign admits these pods again, in order)")
        if there.at:
            self.unknown.append("pods that were deleted after the kubelet's decision")
        data = {"kind": "List", "apiVersion": "v1", "items": there.pods}
        return ["--beside", self.write("beside.json", data), "--node-name", self.node]


def _parsed(text: str | None) -> object:
    """Read an answer; what is no JSON is no answer."""
    try:
        return loads(text or "null")
    except (ValueError, RecursionError):
        raise InputError("kubectl did not answer with JSON", "kubectl") from None


def _version_flags(text: str) -> list[str]:
    """Name the node's own kubelet, if numalign knows that release; a distribution's suffix says nothing."""
    from numalign.kubelet.releases.table import parse_version

    plain = text.partition("+")[0].partition("-")[0]
    try:
        parse_version(plain)
    except InputError as error:
        say(f"kubelet {text} of the node is unknown to numalign; decided as the newest: {error}", "note: ")
        return []
    return ["--kubelet-version", plain]


def _machine_file(folder: str, node: str, nrt: str) -> str:
    """Make a machine of the node's topology object; what it does not say is filled in, and told."""
    from numalign.sources.machine.dump import to_yaml
    from numalign.tasks.cluster import ClusterRequest, load_cluster

    loaded = load_cluster(ClusterRequest((write_file(folder, "nrt.json", nrt),)))
    session = loaded.fleet.nodes[0].session if loaded.fleet.nodes else None
    if session is None:
        raise InputError("its topology object does not describe a machine", f"node {node}")
    say("the machine comes from the node's topology object: amounts are exact, CPU ids are estimates", "note: ")
    return write_file(folder, "machine.yaml", to_yaml(session.node.machine._replace(name=node)))
