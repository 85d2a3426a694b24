"""The nodes of a cluster for KWOK, each as it is before the first pod comes."""

from __future__ import annotations

from numalign.dra.publish.slices import Options
from numalign.errors import InputError
from numalign.results.cluster import KwokExport
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.scheduler.nrt.export import ExportOptions
from numalign.tasks.dra_slices import slices
from numalign.tasks.nrt import export_nrts


def export_nodes(fleet: Fleet) -> KwokExport:
    """Give the empty nodes whose machines are known, and what exporters and drivers publish of them.

    Raises:
        InputError: no machine is known, or a Node cannot be called so.
    """
    nodes = tuple([_empty(node) for node in fleet.nodes if node.session is not None])
    if not nodes:
        raise InputError("no node has a known machine; fix: add --machine-of LABEL=VALUE:MACHINE", "--cluster")
    reporting = tuple([node for node in nodes if node.exporter.mode != "none"])
    published = [
        slices(node.session.node.machine, (), Options(node=node.name)).published for node in nodes if node.session
    ]
    return KwokExport(
        nodes=nodes,
        nrts=export_nrts(fleet._replace(nodes=reporting), ExportOptions()),
        slices=tuple([one for found in published for one in found.slices]),
        classes=tuple({one.name: one for found in published for one in found.classes}.values()),
    )


def _empty(node: ClusterNode) -> ClusterNode:
    session = node.session.empty() if node.session else None
    return node._replace(session=session, totals=node.totals._replace(used={}, pods=0), placed=())
