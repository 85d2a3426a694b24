"""Requests cut in several places at once, where no single cut would do: as little lost as can be found.

Everything is first brought down to the least, and then given back one after another, each as far as the pod is still
admitted. What is given back first loses least, so several orders are tried. Another way cuts one resource of all
containers in proportion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from numalign.analysis.whatif.situation import ContainerAmounts, with_amounts
from numalign.kubelet.admission import Forecast, Session, admits, forecaster
from numalign.model.pod import Pod
from numalign.model.quantity import MEBI, NANO, parse, value
from numalign.model.resources import CPU, MEMORY, is_device, is_hugepages, is_memory, page_size
from numalign.values import NamedTuple

LEAST_MEMORY = 16 * MEBI
"""No container is told to live with less memory than this (or than it asks for)."""

MAX_CONTAINERS = 12
"""Of a pod with more containers only as many requests as these have are cut."""

DEVICE_WEIGHT = 2.0
"""How much worse it is to lose a device than the same share of CPUs or memory."""

GROWTH_WEIGHT = 0.2
"""How much it is to ask for more, so that it can be handed out at all."""

SHARE = NANO // 10
"""In which steps a share of a CPU is asked for, in billionths."""

CUT_STEPS = 64
"""In how many parts a resource is cut where several containers are cut in proportion."""

Key = tuple[str, str]
"""(container, resource)."""


class Cut(NamedTuple):
    """A request that is admitted."""

    amounts: ContainerAmounts
    """What to ask for instead, in billionths; 0: leave the resource out."""
    lost: float
    """The sum of the shares that are lost."""

    @property
    def keeps_devices(self) -> bool:
        """Tell whether all devices stay."""
        return not any(is_device(resource) for _, resource in self.amounts)


class _Request(NamedTuple):
    """What is searched: the node, the pod and its amounts, all in billionths."""

    session: Session
    pod: Pod
    ahead: Forecast
    """What the fit check will say of the pod with other amounts."""
    asked: Mapping[Key, int]
    """What the manifest asks for."""
    wanted: Mapping[Key, int]
    """The same, brought up to what can be given out: whole cores, whole bytes."""
    steps: Mapping[Key, int]
    """In which steps an amount is cut."""
    tried: dict[tuple[int, ...], bool]
    """Amounts in the order of `asked` -> whether the pod was admitted: several ways lead to the same."""

    def admits(self, amounts: Mapping[Key, int]) -> bool:
        """Try other amounts."""
        key = tuple([amounts[one] for one in self.asked])
        known = self.tried.get(key)
        if known is None:
            asked = with_amounts(self.pod, self.changed(amounts))
            known = self.tried[key] = admits(self.session, asked, self.ahead)
        return known

    def changed(self, amounts: Mapping[Key, int]) -> dict[Key, int]:
        """Leave out what stays as it is."""
        return {key: nano for key, nano in amounts.items() if nano != self.asked[key]}

    def cut(self, amounts: Mapping[Key, int]) -> Cut:
        """Say what is lost; what has to grow counts as its growth."""
        changed = self.changed(amounts)
        return Cut(changed, sum(_lost(key, nano, self.asked[key]) for key, nano in changed.items()))


def _lost(key: Key, nano: int, asked: int) -> float:
    """Say how much it is to ask for another amount; what grows loses nothing, but has to be written."""
    if nano > asked:
        return GROWTH_WEIGHT * (1 - asked / nano)
    return (DEVICE_WEIGHT if is_device(key[1]) else 1.0) * (1 - nano / asked)


def cuts(session: Session, pod: Pod, *, thorough: bool = True) -> Iterator[Cut]:
    """Find requests of less with which a pod is admitted, from several sides; the same one may come twice.

    Args:
        session: the node.
        pod: the refused pod.
        thorough: try every order of giving back; else only those that give devices back first.
    """
    containers = pod.containers[:MAX_CONTAINERS]
    asked = {(one.name, name): each.nano for one in containers for name, each in one.requests.items() if each.nano > 0}
    if not asked:
        return
    sizes = steps(session, asked)
    request = _Request(
        session=session,
        pod=pod,
        ahead=forecaster(session, pod),
        asked=asked,
        wanted=_wanted(asked, sizes),
        steps=sizes,
        tried={},
    )
    if request.wanted != asked and request.admits(request.wanted):
        yield request.cut(request.wanted)
        return
    yield from _in_proportion(request)
    pinned = may_pin(session, pod)
    for least, with_shares in zip(_floors(request), (sizes, sizes if pinned else _in_shares(sizes)), strict=True):
        if request.admits(least):
            request = request._replace(steps=with_shares)
            for kind in _kinds(thorough=thorough):
                yield from _from_both_ends(request, least, kind)
            return


def _in_shares(steps: Mapping[Key, int]) -> dict[Key, int]:
    """Count CPUs in shares of one."""
    return {key: SHARE if key[1] == CPU else step for key, step in steps.items()}


def _wanted(asked: Mapping[Key, int], steps: Mapping[Key, int]) -> dict[Key, int]:
    """Bring amounts up to whole cores, and to whole MiB where they are no whole number of bytes."""
    return {
        key: -(-nano // steps[key]) * steps[key] if key[1] == "cpu" or nano % NANO else nano
        for key, nano in asked.items()
    }


def may_pin(session: Session, pod: Pod) -> bool:
    """Tell whether the kubelet gives CPUs of their own to containers of a pod that ask for whole ones."""
    return session.node.cpu.static and pod.qos == "Guaranteed"


def steps(session: Session, asked: Mapping[Key, int]) -> dict[Key, int]:
    """In which steps an amount is cut: whole cores where only they are given out, whole pages, MiB, thousandths."""
    manager = session.node.cpu
    cores = manager.topology.cpus_per_core if manager.static and manager.options.full_pcpus_only else 1
    found = {}
    for key, amount in asked.items():
        resource = key[1]
        if resource == "cpu":
            found[key] = cores * NANO if amount % NANO == 0 else NANO // 1000
        elif is_hugepages(resource):
            found[key] = value(parse(page_size(resource))) * NANO
        else:
            found[key] = MEBI * NANO if is_memory(resource) else NANO
    return found


def _floors(request: _Request) -> Iterator[dict[Key, int]]:
    """Return the least that each container could ask for: whole CPUs first, then shares of one."""
    for share in (False, True):
        least = {}
        for key, amount in request.wanted.items():
            if key[1] == "cpu":
                least[key] = min(amount, SHARE if share else request.steps[key])
            elif key[1] == MEMORY:
                least[key] = min(amount, LEAST_MEMORY * NANO)
            else:
                least[key] = 0
        yield least


def _kinds(*, thorough: bool) -> Iterator[Callable[[Key], int]]:
    """Put resources in order by what is given back first: devices, CPUs or memory."""
    kinds: Sequence[Callable[[Key], int]] = (
        lambda key: 0 if is_device(key[1]) else 1 if key[1] == "cpu" else 2,
        lambda key: 0 if key[1] == "cpu" else 1 if is_memory(key[1]) else 2,
        lambda key: 0 if is_memory(key[1]) else 1 if is_device(key[1]) else 2,
    )
    yield from kinds if thorough else kinds[:1]


def _from_both_ends(request: _Request, least: Mapping[Key, int], kind: Callable[[Key], int]) -> Iterator[Cut]:
    """Give back to the first containers first, to the last ones, and of each resource to those where less is lost."""
    order = sorted(request.asked, key=kind)
    forward = _given_back(request, least, order)
    backwards = list(request.asked)[::-1]
    backwards.sort(key=kind)
    backward = _given_back(request, least, backwards)
    yield from (forward, backward)
    better = {name for _, name in order if _lost_of(request, backward, name) < _lost_of(request, forward, name)}
    if better and better < {name for _, name in forward.amounts}:
        yield _given_back(request, least, _turned(order, better))


def _turned(order: Sequence[Key], names: set[str]) -> list[Key]:
    """Let the last containers come first with some resources."""
    backwards = {name: iter([key for key in order[::-1] if key[1] == name]) for name in names}
    return [next(backwards[key[1]]) if key[1] in names else key for key in order]


def _lost_of(request: _Request, cut: Cut, resource: str) -> float:
    """Add up what a cut loses of one resource."""
    keys = [key for key in cut.amounts if key[1] == resource]
    return request.cut({**request.asked, **{key: cut.amounts[key] for key in keys}}).lost


def _given_back(request: _Request, least: Mapping[Key, int], order: Sequence[Key]) -> Cut:
    amounts = dict(least)
    for key in order:
        if amounts[key] < request.wanted[key]:
            amounts[key] = _most(request, amounts, key)
    return request.cut(amounts)


def _most(request: _Request, amounts: Mapping[Key, int], key: Key) -> int:
    """Find the most of one resource that is admitted, all else as given; what is given is known to be."""
    wanted, step = request.wanted[key], request.steps[key]
    if request.admits({**amounts, key: wanted}):
        return wanted
    found = amounts[key]
    low, high = found // step, -(-wanted // step)
    while high - low > 1:
        middle = (low + high) // 2
        if request.admits({**amounts, key: middle * step}):
            low, found = middle, middle * step
        else:
            high = middle
    return found


def _in_proportion(request: _Request) -> Iterator[Cut]:
    """Cut one resource by the same share in all containers that ask for it."""
    wanted, steps = request.wanted, request.steps
    for resource in dict.fromkeys(name for _, name in wanted):
        keys = [key for key in wanted if key[1] == resource]
        if len(keys) < 2:
            continue
        low, high = 0, CUT_STEPS
        while high - low > 1:
            middle = (low + high) // 2
            if request.admits(_scaled(wanted, steps, keys, middle)):
                low = middle
            else:
                high = middle
        if low:
            yield request.cut(_scaled(wanted, steps, keys, low))


def _scaled(wanted: Mapping[Key, int], steps: Mapping[Key, int], keys: Sequence[Key], share: int) -> dict[Key, int]:
    return {
        **wanted,
        **{key: max(wanted[key] * share // CUT_STEPS // steps[key], 1) * steps[key] for key in keys},
    }
