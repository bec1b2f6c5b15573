"""Publish nested personal data so that nobody in it can be picked out, and prove it.

>>> import bosket as bk, pyarrow as pa
>>> frame = pa.table({"age": [30, 31, 45, 47, 52, 58], "city": ["Bonn", "Bonn", "Köln", "Köln", "Bonn", "Köln"]})
>>> policy = bk.inspect(frame).draft()
>>> pub = bk.anonymize(frame, policy.with_(privacy__k=2))
>>> bool(bk.verify(pub))
True
"""

from . import spark
from ._calls import anonymize, attack, draft, export, inspect, measure, sweep, verify
from ._errors import (
    BosketError,
    BosketWarning,
    DataError,
    Defect,
    Diagnostic,
    EnvironmentFault,
    PolicyError,
    Unreachable,
    Violated,
)
from ._native import __version__
from ._policy import Policy
from ._results import Attack, Look, Loss, Publication, Sweep, Verdict

__all__ = [
    "Attack",
    "BosketError",
    "BosketWarning",
    "DataError",
    "Defect",
    "Diagnostic",
    "EnvironmentFault",
    "Look",
    "Loss",
    "Policy",
    "PolicyError",
    "Publication",
    "Sweep",
    "Unreachable",
    "Verdict",
    "Violated",
    "__version__",
    "anonymize",
    "attack",
    "draft",
    "export",
    "inspect",
    "measure",
    "spark",
    "sweep",
    "verify",
]
