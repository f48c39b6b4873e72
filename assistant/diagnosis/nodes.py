"""What is known of each node: affected, healthy, changed otherwise, or not checked."""

from __future__ import annotations

from assistant.case.models import NodeReport
from assistant.case.vocabulary import NodeState
from assistant.diagnosis.ledger import iso
from assistant.diagnosis.theory import Bench, Theory
from assistant.faults.models import FaultRole


def node_reports(theory: Theory | None, bench: Bench) -> tuple[NodeReport, ...]:
    """One report a node, in order of name; hosts that the log only names count as not checked."""
    seen, hosts = set(bench.people.nodes), set(bench.findings.topology.hosts)
    # Hosts that are as many as the nodes seen, under other names, are the same machines by their other names.
    aliases = len(hosts) == len(seen) and not hosts & seen
    named = seen if aliases else seen | hosts
    return tuple(_report(node, theory, bench) for node in sorted(named))


def _report(node: str, theory: Theory | None, bench: Bench) -> NodeReport:
    ranks = tuple(sorted(bench.people.ranks_on(node)))
    progress = [p for p in bench.findings.temporal.progress if p.node == node]
    iterations = [p.last_iteration for p in progress if p.last_iteration is not None]
    times = [p.last_time for p in progress if p.last_time is not None]
    state, why = _state(node, theory, bench)
    return NodeReport(
        node=node,
        ranks=ranks,
        state=state,
        last_iteration=max(iterations) if iterations else None,
        last_time=iso(max(times)) if times else None,
        why=why,
    )


def _state(node: str, theory: Theory | None, bench: Bench) -> tuple[NodeState, str]:
    if theory is not None and any(blamed.place.node == node for blamed in theory.blamed):
        return NodeState.AFFECTED, "blamed"
    if theory is not None and theory.group is not None and node in theory.group.nodes:
        return NodeState.AFFECTED, "shows the initiating event"
    if any(node in group.nodes for group in bench.groups if group.role in (FaultRole.CASCADE, FaultRole.ROOT)):
        return NodeState.CHANGED, "reports consequences"
    odd = [place for place in bench.findings.spatial.places if place.node == node and place.score >= 0.5]
    if odd:
        return NodeState.CHANGED, odd[0].reasons[0] if odd[0].reasons else "stands out among its peers"
    if node in bench.people.nodes:
        return NodeState.HEALTHY, "its lines show no failure"
    return NodeState.NOT_CHECKED, "no line of it was read"
