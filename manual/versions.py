"""docs/versions.md: what each release of the kubelet changed, from the same data that decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.kubelet.releases.release import Change, Version, version_text
from numalign.kubelet.releases.table import is_published

INTRODUCTION = """# What each kubelet changed

numalign decides as the kubelet of a release does. Without `--kubelet-version` that is the newest recorded release; a
machine file, a scenario, a snapshot and the Node objects of a dump may have another. Releases from 1.32 to 1.36 are
exact: recorded decisions judge them case by case. Earlier releases are replayed as far as they are documented
([earlier kubelets](rules/earlier-kubelets.md)). 1.37 is replayed from its published changes; its section says how sure
each is.

`numalign compare --kubelet-version 1.36,1.37 PODS --machine …` tests each of these changes on your pods, one by one.
`config check` and `lint` warn of settings that stop the next kubelet (code `upgrade`). This page is made from the table
that decides (`numalign/kubelet/releases/`).
"""

COMING = """
## 1.38: coming, not replayed

From its first test releases and from proposals; none of it is released.

- Gates that go, so that naming them crashes the kubelet: `DynamicResourceAllocation`, `KubeletTracing`,
  `PodSchedulingReadiness`, `MatchLabelKeysInPodAffinity`, `SeparateTaintEvictionController`, `WindowsHostNetwork`.
  `config check` warns of them. `DRADeviceTaints` and `DRADeviceTaintRules` are locked.
- `distribute-cpus-across-numa`: at least as many NUMA nodes as the hint has; its searches do not hang; stored
  combinations are copied. `distribute-cpus-across-cores` follows the topology. A core is whole when all its CPUs are
  free.
- Memory drift (`memoryManagerPolicyOptions`, gate `MemoryManagerDriftTolerance`, alpha, off): a node may return with
  totals that differ by the size of the kernel's image.
- Resizing exclusive CPUs in place (alpha, off).
- Claims: qualified capacity names, mode `All` with incomplete pools, quantities that do not wrap.
"""

PUBLISHED = """
Read in released sources or notes: **A**. Merged, its final source not read whole: **B**. Concluded from these: **C**.
Cases that were rebuilt from the published changes judge the CPU choice, cases of its development the requests of
resized pods, cases of the project the rest. These rules are not in the table:

- C: a share that is lowered after the choice can let the kubelet hang, where 1.36 ends in `accounting error` (warning
  `inferred`). With `align-by-socket` beside `distribute-cpus-across-numa` its other hang occurs more often.
- C: a static pod gets no pod-level defaults (warning `inferred`).
- B for the CPU file, A for the memory file: state files have a new format with the content in `data`. 1.36 also reads
  it, without what pods hold as a whole. A wrong `dataChecksum` stops the kubelet; files of 1.17 are not read.
- A: flags of cAdvisor stop the kubelet.
- A: pod-level lists of the PodResources API, and taints of DeviceTaintRule objects, which keep claims away.
- A: the allocator counts claims by driver and remembers every value of `distinctAttribute`. Mode `All` with shared
  capacity is all or nothing, ranges may be fractions, negative amounts are errors.
- A: with `PodLevelResourceManagers` on, a restarted 1.37.0 can give CPUs and memory of pod-level pods a second time.
  1.38 corrects this. Not replayed, as nothing says when it happens.
- B: another change of these managers, merged in July. Not replayed, as its content is not public.
"""


def versions_page(changes: Iterable[Change]) -> str:
    """Write the page: a table a release, the newest first."""
    releases: dict[tuple[int, int], list[Change]] = {}
    for change in changes:
        releases.setdefault(change.since, []).append(change)
    sections = [_section(version, releases[version]) for version in sorted(releases, reverse=True)]
    return "".join([INTRODUCTION, COMING, *sections])


def _section(version: Version, changes: Sequence[Change]) -> str:
    published = is_published(version)
    table = "\n".join(_table(changes, published=published))
    return f"\n## {version_text(version)}\n{PUBLISHED if published else ''}\n{table}\n"


def _table(changes: Sequence[Change], *, published: bool) -> Iterable[str]:
    yield "| what | before | since then | concerns you if … |" + (" sure |" if published else "")
    yield "| --- | --- | --- | --- |" + (" --- |" if published else "")
    for change in changes:
        sure = f" {change.sure} |" if published else ""
        yield f"| {change.topic} | {change.older} | {change.newer} | {change.concerns} |{sure}"
