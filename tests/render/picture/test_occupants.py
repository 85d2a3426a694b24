"""The picture of an admission: every CPU and device is drawn once, in its node, in the colour of who holds it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from numalign.kubelet.config import IDEAL
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine
from numalign.render.picture.looks import COLOURS, EDGES
from numalign.render.picture.occupants import draw_occupants
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine
from numalign.sources.pods import manifest
from numalign.tasks.admit import admit
from tests.cli.running import PODS, ROOT, in_process

SVG = "{http://www.w3.org/2000/svg}"


def drawn(machine: Machine, *names: str, policy: str = "best-effort") -> ElementTree.Element:
    options = {"max-allowable-numa-nodes": "64"} if len(machine.numa_nodes) > 8 else None
    config = IDEAL._replace(topology_manager_policy=policy, topology_manager_policy_options=options)
    pods = manifest.read_pods([PODS / f"{name}.yaml" for name in names]).pods
    return ElementTree.fromstring(draw_occupants(admit(Setup(machine, config, "ideal"), pods, occupants=True)).svg)


def titles(picture: ElementTree.Element) -> dict[str, ElementTree.Element]:
    return {str(rect[0].text): rect for rect in picture.iter(f"{SVG}rect") if len(rect)}


@pytest.mark.parametrize("name", [name for name in bundled.names() if not name.startswith("power9")])
def test_every_cpu_and_device_is_drawn_once_inside_the_picture(name: str) -> None:
    machine = load_machine(name).machine
    picture = drawn(machine, "announcement", "burstable")
    said = [str(rect[0].text) for rect in picture.iter(f"{SVG}rect") if len(rect)]
    assert sum(text.startswith("CPU ") for text in said) == machine.cpus.bit_count()
    for resource, devices in machine.devices.items():
        for device in devices:
            assert sum(text.startswith(f"{resource} {device.id}:") for text in said) == 1
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    for rect in picture.iter(f"{SVG}rect"):
        right = float(rect.get("x", 0)) + float(rect.attrib["width"].removesuffix("%"))
        bottom = float(rect.get("y", 0)) + float(rect.attrib["height"].removesuffix("%"))
        assert right <= width + 0.5
        assert bottom <= height + 0.5


def test_what_a_container_holds_has_its_colour() -> None:
    found = titles(drawn(load_machine("figure-1").machine, "announcement", policy="single-numa-node"))
    first = {text for text, rect in found.items() if rect.get("fill") == COLOURS["good"][0]}
    assert first == {
        "CPU 0: numa-aligned-1/numa-aligned-container",
        "CPU 1: numa-aligned-1/numa-aligned-container",
        "gpu-vendor.com/gpu 0: numa-aligned-1/numa-aligned-container",
        "nic-vendor.com/nic 0: numa-aligned-1/numa-aligned-container",
    }
    assert found["CPU 2: shared pool"].get("fill") == "#ffffff"


def test_a_device_whose_node_only_sys_tells_is_drawn_in_it_dashed() -> None:
    machine = load_machine("figure-1").machine
    devices = {"v.com/d": (Device("0000:01:00.0"), Device("0000:02:00.0"))}
    machine = machine._replace(devices=devices, hardware=Hardware(pci=(PCIFunction("0000:01:00.0", numa_node=1),)))
    picture = drawn(machine, "burstable")
    (told,) = [rect for text, rect in titles(picture).items() if "0000:01:00.0" in text]
    assert "stroke-dasharray" in told.attrib
    assert any("unknown NUMA node" in str(text.text) for text in picture.iter(f"{SVG}text"))


@pytest.mark.parametrize("output", ["svg", "html"])
def test_the_command_prints_it(output: str) -> None:
    done = in_process("admit", PODS / "announcement.yaml", "-m", "figure-1", "--policy", "none", "-o", output)
    assert done.status == 1
    assert "<svg" in done.out


def test_the_picture_of_the_readme_is_what_is_drawn_today() -> None:
    """Written by: numalign admit docs/examples/gpu-nic.yaml … -o svg > docs/admit.svg."""
    words = ("docs/examples/vllm.yaml", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "best-effort")
    assert (ROOT / "docs/admit.svg").read_text(encoding="utf-8") == in_process("admit", *words, "-o", "svg").out


def bus_machine() -> Machine:
    """Two GPUs and a NIC, of which a plugin tells no node: the first GPU shares the NIC's switch."""
    gpu = PCIFunction("0000:01:00.0", "0302", numa_node=0, root="pci0000:00", switch="0000:00:01.0")
    nic = gpu._replace(address="0000:02:00.0", class_id="0200", names=("eth0", "mlx5_0"))
    far = gpu._replace(address="0000:81:00.0", numa_node=1, root="pci0000:80", switch=None)
    devices = {
        "v.com/gpu": (Device(gpu.address, (0,)), Device(far.address, (1,))),
        "v.com/nic": (Device("mlx5_0"),),
    }
    return load_machine("figure-1").machine._replace(devices=devices, hardware=Hardware(pci=(gpu, nic, far)))


def test_how_close_devices_are_on_the_bus_stands_beside_the_verdict() -> None:
    limits = {"cpu": 2, "memory": "1Gi", "v.com/gpu": 2, "v.com/nic": 1}
    spec = {"containers": [{"name": "c", "resources": {"limits": limits}}]}
    asked = read_pod({"metadata": {"name": "p"}, "spec": spec})
    setup = Setup(bus_machine(), IDEAL, "ideal")
    picture = ElementTree.fromstring(draw_occupants(admit(setup, [asked], occupants=True)).svg)

    said = [str(text.text) for text in picture.iter(f"{SVG}text")]

    close = "v.com/gpu: on different NUMA nodes; v.com/gpu and v.com/nic: 1 pair below the same PCIe switch, 1 pair on"
    assert close in " ".join(said)
    (nic,) = [rect for text, rect in titles(picture).items() if "mlx5_0" in text]
    assert "stroke-dasharray" in nic.attrib


def compared(*words: str) -> tuple[list[str], list[str]]:
    """The heads of the pictures, and what each CPU's title says."""
    picture = ElementTree.fromstring(in_process("compare", *words, "-o", "svg").out)
    heads = [str(text.text) for text in picture.iter(f"{SVG}text") if text.get("font-size") == "18"]
    return heads, [text for text in titles(picture) if text.startswith("CPU ")]


def test_compare_draws_before_and_after() -> None:
    heads, _ = compared("docs/examples/vllm.yaml", "-m", "hgx-h100", "--policy", "single-numa-node")
    assert heads == ["before, as given: hgx-h100", "after, the best that was tried: hgx-h100"]


def test_compare_draws_once_where_nothing_is_better() -> None:
    heads, _ = compared("pods/announcement.yaml", "-m", "figure-1", "--policy", "single-numa-node")
    assert heads == ["as given (nothing that was tried is better): figure-1"]


def test_a_kubelet_that_does_not_start_is_told_in_the_picture() -> None:
    done = in_process("compare", "pods/guaranteed-4cpu-1gpu.yaml", "-m", "gb200", "--policy", "restricted", "-o", "svg")
    assert "the kubelet would not start: unsupported on machines with more than 8 NUMA Nodes" in done.out


def test_an_upgrade_is_drawn_before_and_after() -> None:
    words = ("pods/pod-level.yaml", "-m", "hgx-h100", "--policy", "restricted", "--kubelet-version", "1.32,1.36")
    heads, cpus = compared(*words)
    assert heads == ["before, kubelet 1.32: hgx-h100", "after, kubelet 1.36: hgx-h100"]
    assert any("trainer/train" in text for text in cpus)


def test_a_container_keeps_its_letter_in_both_pictures() -> None:
    words = ("docs/examples/vllm.yaml", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "none", "-o", "svg")
    picture = ElementTree.fromstring(in_process("compare", *words).out)
    said = [str(text.text) for text in picture.iter(f"{SVG}text")]
    letters = {(said[place - 1], text.partition(":")[0]) for place, text in enumerate(said) if text.startswith(WHO)}
    assert letters == {("A", "vllm/server"), ("B", "rank/train")}


WHO = ("vllm/server:", "rank/train:")


def test_a_comparison_as_a_page_has_the_pictures_and_the_table() -> None:
    done = in_process("compare", "pods/announcement.yaml", "-m", "figure-1", "-o", "html")
    assert done.out.count("<svg") == 1
    assert "No variant admits every pod." in done.out


VLLM = ("docs/examples/vllm.yaml", "-m", "hgx-h100")


def picture_of(*words: str) -> ElementTree.Element:
    return ElementTree.fromstring(in_process(*words, "-o", "svg").out)


def said(picture: ElementTree.Element, tag: str = "text") -> str:
    return " ".join(str(one.text) for one in picture.iter(f"{SVG}{tag}"))


def fills(picture: ElementTree.Element, start: str) -> set[str]:
    return {str(rect.get("fill")) for text, rect in titles(picture).items() if text.startswith(start)}


def test_a_far_device_has_a_red_frame_and_a_line_to_its_cpus_with_the_distance() -> None:
    picture = picture_of("admit", *VLLM, "--policy", "best-effort")
    text = "vllm/server: nvidia.com/gpu gpu4–7 on NUMA 1 is far from the CPUs: distance 21"
    frames = [one for one in picture.iter(f"{SVG}rect") if one.get("stroke") == "#c62828" and one.get("fill") == "none"]
    assert [str(one[0].text) for one in frames if len(one)] == [text] * 4
    assert any(one.get("stroke") == "#c62828" for one in picture.iter(f"{SVG}polyline"))
    assert "distance 21" in said(picture)
    assert text in said(picture, "desc")


def test_aligned_and_not_aligned_differ_in_colour_form_and_words() -> None:
    apart = picture_of("admit", *VLLM, "--policy", "best-effort")
    together = picture_of("admit", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "restricted")
    assert fills(apart, "CPU 0:") <= set(COLOURS["bad"])
    assert fills(together, "CPU 0:") <= set(COLOURS["good"])
    assert "rx" in EDGES["good"]
    assert "rx" not in EDGES["bad"]
    assert "vllm: admitted, NOT aligned (spread)" in said(apart)
    assert "rank: admitted, aligned on NUMA 0" in said(together)


def test_sixty_containers_differ_in_look_or_letter(tmp_path: Path) -> None:
    limits = {"cpu": 1, "memory": "64Mi"}
    containers = [{"name": f"c{place}", "resources": {"limits": limits}} for place in range(60)]
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}}
    (tmp_path / "p.json").write_text(json.dumps(pod))
    picture = picture_of("admit", str(tmp_path / "p.json"), "-m", "hgx-h100", "--policy", "best-effort")
    names = [str(one.text) for one in picture.iter(f"{SVG}text")]
    labels = [names[place - 1] for place, text in enumerate(names) if text.startswith("p/c")]
    assert len(set(labels)) == len(labels) == 60
    assert len(fills(picture, "CPU ") - {"#ffffff"}) == 20


def test_the_key_names_what_is_there_alone() -> None:
    whole = said(picture_of("admit", *VLLM, "--policy", "best-effort", "--reserved-cpus", "0,112"))
    plain = said(picture_of("admit", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "restricted"))
    assert "reserved" in whole
    assert "far from the CPUs of its container" in whole
    for word in ("reserved", "far from", "/sys"):
        assert word not in plain


def test_memory_is_a_bar_only_where_the_memory_manager_pins_it() -> None:
    words = ("admit", "pods/guaranteed-4cpu-1gpu.yaml", "-m", "hgx-h100", "--policy", "restricted")
    assert "memory 1007Gi, not pinned" in said(picture_of(*words))
    static = ("--memory-manager-policy", "Static", "--reserved-memory", "0:memory=1Gi", "--kube-reserved", "memory=1Gi")
    pinned = picture_of(*words, *static, "--eviction-hard", "")
    assert "not pinned" not in said(pinned)
    assert any(text.endswith(" memory") and "guaranteed" in text for text in titles(pinned))


def test_numa_nodes_with_nothing_are_folded() -> None:
    text = said(picture_of("admit", "pods/guaranteed-4cpu-1gpu.yaml", "-m", "gb200", "--policy", "none"))
    assert "NUMA 3-9,11-17,19-25,27-33: no CPUs, no memory, no devices (28 NUMA nodes)" in text
    assert text.count("no CPUs") == 5


def test_a_rejection_is_drawn_with_what_is_free_the_fix_and_the_machine_with_it() -> None:
    picture = picture_of("explain", *VLLM, "--policy", "restricted")
    text = said(picture)
    assert text.startswith("vllm: rejected, even on an empty node with these settings")
    assert "✗ gpu: 8 requested, 4 of 4 free" in text
    assert "✓ cpu: 16 requested, 112 of 112 free" in text
    assert "fix: Request 113 CPUs (now 16): aligned on NUMA 0-1, the fewest possible --set server:cpu=113" in text
    assert "with the fix: hgx-h100 vllm: admitted, aligned on NUMA 0-1" in text
    assert "TopologyAffinityError" in said(picture, "desc")


def test_a_fix_that_changes_a_setting_is_drawn_under_it() -> None:
    words = ("explain", "docs/examples/vllm.yaml", "-m", "hgx-h100", "--policy", "single-numa-node")
    text = said(picture_of(*words))
    assert "policy single-numa-node, scope container" in text
    assert "with the fix: hgx-h100" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(
            ("docs/examples/vllm.yaml", "-m", "hgx-h100", "--policy", "single-numa-node"),
            "admitted, NOT aligned --policy best-effort fix that aligns: Request at most 4 nvidia.com/gpu (now 8): ",
            id="another fix aligns",
        ),
        pytest.param(
            ("pods/announcement.yaml", "-m", "figure-1", "--policy", "none"),
            "admitted, NOT aligned --without numa-aligned-2 No fix found aligns the pod.",
            id="none aligns",
        ),
    ],
)
def test_a_fix_that_does_not_align_is_told_from_one_that_does(words: tuple[str, ...], expected: str) -> None:
    picture = picture_of("explain", *words)
    assert expected in said(picture)
    assert sum(str(one[0].text) == "NOT aligned" for one in picture.iter(f"{SVG}polygon") if len(one)) == 2


def test_a_rejected_pod_among_others_is_drawn_with_what_it_lacks() -> None:
    words = ("admit", "docs/examples/vllm.yaml", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--replicas", "1")
    text = said(picture_of(*words, "--policy", "best-effort"))
    assert "rank: rejected (UnexpectedAdmissionError). nvidia.com/gpu: 1 requested, 0 of 8 free." in text


def test_of_many_reasons_for_rejections_a_few_are_drawn(tmp_path: Path) -> None:
    limits = "{resources: {limits: {cpu: '%d', memory: 1Gi}}, name: c, image: i}"
    pods = [
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: p{count}}}, spec: {{containers: [{limits % count}]}}}}"
        for count in range(20, 32)
    ]
    (tmp_path / "pods.yaml").write_text("\n---\n".join(pods))
    text = said(picture_of("admit", str(tmp_path / "pods.yaml"), "-m", "figure-1", "--policy", "none"))
    assert "p20: rejected" in text
    assert "4 more pods: rejected" in text


def test_an_aligned_pod_is_explained_by_one_machine() -> None:
    text = said(picture_of("explain", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--policy", "restricted"))
    assert text.startswith("rank: admitted, aligned on NUMA 0")
    assert "fix" not in text


def test_pods_that_are_there_are_grey_and_those_that_come_are_not() -> None:
    words = ("explain", "docs/examples/gpu-nic.yaml", "-m", "hgx-h100", "--beside", "docs/examples/vllm.yaml")
    picture = picture_of(*words, "--policy", "best-effort")
    now, fixed = fills(picture, "CPU 0: vllm"), fills(picture, "CPU 0: rank")
    assert now <= set(COLOURS["there"])
    assert fixed <= set(COLOURS["good"])
    assert "vllm/server: on the node" in said(picture)


@pytest.mark.parametrize("name", ["xeon-8s", "hgx-h100", "gb200", "xeon-2s-cxl", "edge-1s"])
def test_texts_are_large_enough_to_read_at_a_thousand_pixels(name: str) -> None:
    picture = picture_of("admit", "pods/burstable.yaml", "-m", name, "--policy", "none")
    width = float(picture.attrib["viewBox"].split()[2])
    sizes = [float(one.attrib["font-size"]) for one in picture.iter(f"{SVG}text")]
    assert min(sizes) * 1000 / width >= 11


@pytest.mark.parametrize(
    "words",
    [
        ("admit", *VLLM, "--policy", "none"),
        ("explain", *VLLM, "--policy", "restricted"),
        ("discover", "-m", "figure-1"),
        ("capacity", "docs/examples/vllm.yaml", "-m", "hgx-h100"),
    ],
    ids=lambda words: str(words[0]),
)
def test_a_picture_has_a_title_and_follows_the_dark_mode_of_who_looks(words: tuple[str, ...]) -> None:
    picture = picture_of(*words)
    assert picture.get("role") == "img"
    assert picture[0].tag == f"{SVG}title"
    assert picture[0].text
    assert "prefers-color-scheme: dark" in said(picture, "style")


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        pytest.param(("admit", *VLLM), "vllm: admitted, NOT aligned (spread)", id="admit"),
        pytest.param(
            ("explain", *VLLM, "--policy", "restricted"), "vllm: rejected, even on an empty node", id="explain"
        ),
        pytest.param(("compare", *VLLM), "No variant aligns the pods. Most copies: 1", id="compare"),
        pytest.param(("capacity", *VLLM), "fits now: default/vllm: ", id="capacity"),
    ],
)
def test_a_page_has_title_verdict_command_picture_and_tables(words: tuple[str, ...], verdict: str) -> None:
    page = in_process(*words, "-o", "html").out
    (heading,) = re.findall("<h1>(.*?)</h1>", page)
    assert heading.startswith(verdict)
    assert f"numalign {words[0]} " in page.partition("</h1>")[2].partition("</pre>")[0]
    assert page.count("<svg") == 1
    assert "<table>" in page
    assert not re.search(r"(src|href)=", page)
    assert re.search("<title>.*hgx-h100.*</title>", page)


@pytest.mark.parametrize("output", ["svg", "html", "wide"])
def test_a_kubelet_that_does_not_start_is_explained_in_every_output(output: str) -> None:
    done = in_process("explain", "pods/wide.yaml", "-m", "gb200", "--policy", "restricted", "-o", output)
    assert done.status == 4
    assert "does not start" in done.out
    assert "unsupported on machines with more than 8 NUMA Nodes" in done.out


def test_a_long_word_of_a_table_may_break() -> None:
    page = in_process("compare", *VLLM, "--policy", "restricted", "-o", "html").out
    assert "Topology<wbr>Affinity<wbr>Error" in page
    assert "nvidia.<wbr>com/<wbr>gpu" in page


def test_a_fix_of_the_manifest_is_drawn_as_it_was_tested() -> None:
    text = said(picture_of("explain", "docs/examples/mesh.yaml", "-m", "hgx-h100", "--policy", "restricted"))
    assert "fix: Request 2 CPUs (now 100m) in container istio-proxy" in text
    assert "with the fix" in text
    assert "the CPUs of its container are not pinned" in text
