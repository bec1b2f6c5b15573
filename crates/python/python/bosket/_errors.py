"""What goes wrong, sorted by whose fault it is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "BosketError",
    "BosketWarning",
    "DataError",
    "Defect",
    "Diagnostic",
    "EnvironmentFault",
    "PolicyError",
    "Unreachable",
    "Violated",
]


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """One message: what, where, what to do. Without values of the data."""

    severity: str
    """``"error"`` or ``"warning"``."""
    message: str
    """What is wrong, in one line."""
    source: str | None = None
    """The policy, file or frame that it is about."""
    path: str | None = None
    """The key of the policy, or the attribute."""
    line: int | None = None
    column: int | None = None
    record: int | None = None
    """The number of the row, from 1."""
    help: str | None = None
    """What to do."""
    text: str = ""
    """The message as the command line prints it."""

    def __str__(self) -> str:
        return self.text or self.message


class BosketError(Exception):
    """Everything that Bosket raises; ``str()`` is what the command line prints."""

    diagnostics: list[Diagnostic]

    def __init__(self, diagnostics: Sequence[Diagnostic] | str) -> None:
        if isinstance(diagnostics, str):
            diagnostics = [Diagnostic(severity="error", message=diagnostics, text=f"error: {diagnostics}")]
        self.diagnostics = list(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)


class PolicyError(BosketError):
    """The policy, or how something was called, is wrong."""


class DataError(BosketError):
    """The data cannot be read, or is not what the policy describes."""


class Unreachable(BosketError):
    """The guarantee cannot be reached with this data."""


class EnvironmentFault(BosketError):
    """The machine stands in the way: no room, no permission, no such file."""


class Violated(BosketError):
    """A publication does not keep its promise."""


class Defect(BosketError):
    """An error of Bosket itself, with the place where it broke off."""


class BosketWarning(UserWarning):
    """Something that should be known about a result."""


def _warn(diagnostic: Diagnostic) -> None:
    # Seen from here: the layer's own functions, then whoever called them.
    warnings.warn(str(diagnostic), BosketWarning, stacklevel=3)
