"""One solution for all records, searched on kernels of them.

```text
survey ─► plan ─► frequencies ─► search ⇄ kernels ─► recode, write, judge ─► certificate
                                   ▲                                │
                                   └─ records of who was overlooked ┘
```

A kernel shows what all records would show, or it is a proposal and all records decide: where somebody is found in what was written,
the records that are to blame join the kernels, and the search begins again.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame

from . import _native
from ._errors import Diagnostic, _warn
from ._spark import Batches, Made, NativePolicy, Run, _changing, _chunks, _Place, _texts

__all__ = ["Kernels"]

ROUNDS = 16
"""How often records that were overlooked may join a kernel."""


@dataclass(frozen=True)
class _Known:
    """What is known of all records before the search."""

    plan: bytes
    frequencies: bytes
    records: int
    exact: bool


@dataclass(frozen=True)
class _Solution:
    """What a search has found, and what records look like once they are recoded by it."""

    found: bytes
    shape: bytes
    takes_apart: bool


class Kernels:
    """A solution for all records, and what it publishes of them."""

    def __init__(self, run: Run, policy: NativePolicy, data: DataFrame) -> None:
        self.run, self.policy, self.data = run, policy, data

    def tried(self, place: _Place, size: int) -> tuple[str, str | None]:
        """Searches until what is found holds for all records: the verdict on what was written, and a certificate if it holds."""
        known = self._known()
        may_part, more, rounds = True, b"", 0
        while True:
            solution = self._solved(known, (may_part, more))
            found, certificate = self.run.tried(self.policy, self._made(known, solution), place, size)
            if certificate is not None or known.exact:
                break
            if may_part and solution.takes_apart:
                # Relations that were taken apart may give somebody away: then none are.
                may_part = False
            else:
                more, overlooked = self._overlooked(known, solution, more)
                may_part, rounds = False, rounds + 1
                if not overlooked or rounds > ROUNDS:
                    break
            place.empty()
        if certificate is not None and not known.exact:
            what = "records were searched in parts: another cut might have lost less with all of them in memory"
            help = "the promise is kept all the same; see docs/spark.md"
            _warn(Diagnostic(severity="warning", message=what, help=help, text=f"warning: {what}\n help: {help}"))
        return found, certificate

    def _known(self) -> _Known:
        survey = self.run._counted("survey", self.data, self.policy, b"", b"")
        plan, records, exact = _native.spark_plan(self.policy, survey)
        frequencies = self.run._counted("frequencies", self.data, self.policy, self.run._noted("plan", plan), b"")
        return _Known(plan, frequencies, records, exact)

    def _solved(self, known: _Known, asked: tuple[bool, bytes]) -> _Solution:
        """What is found on kernels, with relations taken apart if they may be, and with records that were overlooked before."""
        memory, plan = self.run.memory, known.plan

        def kernels(labels: list[int], size: int) -> bytes:
            cut = (labels, size)

            def kernel(rows: pa.Table, number: int) -> bytes:
                return _native.spark_kernel(plan, cut, rows, number, memory)

            def merge(states: list[bytes]) -> bytes:
                return _native.spark_merge_kernels(plan, cut, states, memory)

            return self.run._merged(f"kernel for sets of {size}", self.data, kernel, merge)

        found, takes_apart = _native.spark_search(plan, known.frequencies, asked, kernels, memory)
        shape = self.run._counted("shape", self.data, self.policy, plan, self.run._noted("solution", found))
        return _Solution(found, shape, takes_apart)

    def _made(self, known: _Known, solution: _Solution) -> Made:
        """What is told about a solution, the columns of all parts, and the texts of all published records, in no order."""
        memory, plan, found, shape = self.run.memory, known.plan, solution.found, solution.shape
        sheet, published, told = _native.spark_sheet(plan, found, shape, self.run.source(self.data), memory)
        if published != known.records:
            raise _changing()

        def recoded(batches: Batches) -> Batches:
            for _, rows in _chunks(batches):
                yield from _texts(_native.spark_recode(plan, found, shape, rows, memory))

        return told, sheet, self.data.mapInArrow(recoded, "text binary")

    def _overlooked(self, known: _Known, solution: _Solution, before: bytes) -> tuple[bytes, int]:
        """Records that somebody is found by if a solution is published, together with those of before; how many are found."""
        memory, plan, given = self.run.memory, known.plan, (solution.found, solution.shape)

        def look(rows: pa.Table, number: int) -> bytes:
            return _native.spark_overlook(plan, given, rows, number, memory)

        state = self.run._merged("overlooked", self.data, look, lambda states: _native.spark_merge_overlooked(plan, states, memory))
        return _native.spark_overlooked(plan, state, before, memory)
