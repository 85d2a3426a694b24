"""What changes are looked for: that a pod is admitted, or that it is admitted and aligned."""

from __future__ import annotations

from numalign.analysis.alignment import aligned
from numalign.kubelet.admission import Forecast, Outcome, Session, admit, admits, forecast
from numalign.model.pod import Pod
from numalign.values import NamedTuple


class Goal(NamedTuple):
    """What has to come of a change."""

    aligned: bool = False
    """The pod has to be aligned, too."""

    def met(self, outcome: Outcome) -> bool:
        """Tell whether an admission is what is looked for."""
        return outcome.admit and (not self.aligned or aligned(outcome) is True)

    def reached(self, session: Session, pod: Pod) -> Outcome | None:
        """Admit a pod; None: that misses the goal. Quick where it is too large for the node."""
        tried = None if forecast(session, pod) is False else admit(session, pod)
        return tried if tried is not None and self.met(tried) else None

    def does(self, session: Session, pod: Pod, ahead: Forecast | None = None) -> bool:
        """Try a pod; `ahead` as of `admits`."""
        if not self.aligned:
            return admits(session, pod, ahead)
        fits = ahead(pod) if ahead else forecast(session, pod)
        return fits is not False and self.met(admit(session, pod))


ADMITTED = Goal()
ALIGNED = Goal(aligned=True)
