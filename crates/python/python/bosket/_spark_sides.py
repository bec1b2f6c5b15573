"""People and their sensitive values, published apart: what is made of them on a cluster.

```text
values ─► plan ─► people, sorted by value, dealt into parts ─► [δ of each part] ─► groups of each part ─► groups of the last part, with
those left over ─► sort, number ─► write parts of both sides ─► judge each part
```
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from . import _native
from ._errors import Diagnostic, Unreachable, _warn
from ._spark import Batches, NativePolicy, Run, _begin, _changing, _chunks, _error, _Place, _state

__all__ = ["Sides", "judged"]

DEALT = 200_000
"""Records of a part that is grouped by itself, or some more. It decides in how many parts people are dealt, whatever the cluster."""

_GROUP, _LEFT, _TELLING = 0, 1, 2
_MADE = "kind int, state binary"
_PEOPLE = "part int, text binary"
_LENGTH = 4


def _made(made: tuple[list[bytes], list[bytes], int]) -> Iterator[pa.RecordBatch]:
    groups, left, telling = made
    for kind, states in ((_GROUP, groups), (_LEFT, left), (_TELLING, [json.dumps(telling).encode()])):
        kinds = pa.array([kind] * len(states), pa.int32())
        yield pa.RecordBatch.from_arrays([kinds, pa.array(states, pa.binary())], ["kind", "state"])


def _texts(batches: Iterator[pa.RecordBatch]) -> list[bytes]:
    return [text for batch in batches for text in batch.column("text").to_pylist()]


class Sides:
    """Groups of people, and both sides of them."""

    def __init__(self, run: Run, policy: NativePolicy, data: DataFrame) -> None:
        self.run, self.policy, self.data = run, policy, data
        self._held: list[DataFrame] = []

    def tried(self, place: _Place, records_per_part: int) -> tuple[str, str | None]:
        """Writes both sides, and judges them from their bytes: the verdict, and a certificate if it holds."""
        run = self.run
        values = run._counted("values", self.data, self.policy, b"", b"")
        plan, records, size, agree = _native.sides_plan(self.policy, values)
        try:
            made = self._hold(self._grouped(run._noted("plan", plan), records, agree))
            groups = made.where(f"kind = {_GROUP}").selectExpr("state as text")
            suppressed = made.where(f"kind = {_LEFT}").count()
            if suppressed == records:
                raise _error(Unreachable, "no group can be made: nothing would be left to publish", "ask for smaller groups")
            telling = sum(json.loads(bytes(row["state"])) for row in made.where(f"kind = {_TELLING}").collect())
            self._write(plan, groups, place, max(1, records_per_part // size))
        finally:
            for held in self._held:
                held.unpersist()
        place.tidy()
        found, certificate = judged(run, self.policy, place.staging, (suppressed, values))
        if json.loads(found)["records"] + suppressed != records:
            raise _changing()
        if telling and certificate is not None:
            what = f"in {telling:,} groups one person has more than its share of the values"
            what += ": whoever knows how many values people have can tell"
            help = "ask for larger groups, or publish fewer values per person"
            _warn(Diagnostic(severity="warning", message=what, help=help, text=f"warning: {what}\n help: {help}"))
        return found, certificate

    def _hold(self, frame: DataFrame) -> DataFrame:
        """Keeps what several jobs need until all of it is written."""
        self._held.append(frame.persist(StorageLevel.DISK_ONLY))
        return frame

    def _dealt(self, plan: bytes, parts: int) -> DataFrame:
        """People by the part that they are dealt into: sorted by their values, the i-th goes to part i mod P."""
        memory = self.run.memory

        def people(batches: Batches) -> Batches:
            for _, rows in _chunks(batches):
                keys, texts = _native.sides_people(plan, rows, memory)
                # The key first, by which texts are sorted; how long it is stands at the end.
                joined = [key + text + len(key).to_bytes(_LENGTH) for key, text in zip(keys, texts, strict=True)]
                yield pa.RecordBatch.from_arrays([pa.array(joined, pa.binary())], ["text"])

        def bare(batches: Batches) -> Batches:
            for batch in batches:
                texts = [text[int.from_bytes(text[-_LENGTH:]) : -_LENGTH] for text in batch.column("text").to_pylist()]
                yield pa.RecordBatch.from_arrays([batch.column("part"), pa.array(texts, pa.binary())], ["part", "text"])

        keyed = self._hold(self.data.mapInArrow(people, "text binary"))
        dealt, _, _ = self.run.placed(keyed, DEALT, "part", lambda place: place % parts)
        return self._hold(dealt.mapInArrow(bare, _PEOPLE))

    def _grouped(self, plan: bytes, records: int, agree: bool) -> DataFrame:
        """Groups, people who are in none, and figures."""
        parts = max(1, records // DEALT)
        dealt = self._dealt(plan, parts)
        if agree and parts > 1:
            plan = self._agreed(plan, dealt)

        def grouped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            _begin()
            yield from _made(_native.sides_make(plan, _texts(batches), None))

        def last(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            _begin()
            own: list[bytes] = []
            over: list[bytes] = []
            for batch in batches:
                for part, text in zip(batch.column("part").to_pylist(), batch.column("text").to_pylist(), strict=True):
                    (over if part < 0 else own).append(text)
            yield from _made(_native.sides_make(plan, own, over))

        ends = dealt.where(f"part = {parts - 1}")
        if parts == 1:
            return ends.groupBy("part").applyInArrow(grouped, _MADE)
        first = self._hold(dealt.where(f"part < {parts - 1}").groupBy("part").applyInArrow(grouped, _MADE))
        over = first.where(f"kind = {_LEFT}").selectExpr("-1 as part", "state as text")
        together = ends.union(over).selectExpr("0 as key", "part", "text").groupBy("key").applyInArrow(last, _MADE)
        return first.where(f"kind <> {_LEFT}").union(together)

    def _agreed(self, plan: bytes, dealt: DataFrame) -> bytes:
        """The plan with the distance that every part can reach."""

        def reach(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            _begin()
            delta = _native.sides_reach(plan, _texts(batches))
            yield pa.RecordBatch.from_arrays([pa.array([delta], pa.int32())], ["delta"])

        found = [row["delta"] for row in dealt.groupBy("part").applyInArrow(reach, "delta int").collect()]
        return _native.sides_agreed(plan, min((delta for delta in found if delta is not None), default=0))

    def _write(self, plan: bytes, groups: DataFrame, place: _Place, size: int) -> None:
        staging, memory, source = place.staging, self.run.memory, self.run.source(self.data)
        for folder in _native.sides_folders(plan, source, memory):
            os.mkdir(os.path.join(staging, folder))
        self.run._cut(
            groups, size, lambda part, held: _native.sides_write(plan, source, staging, (part, part * size + 1), held, memory)
        )


def judged(run: Run, policy: NativePolicy, folder: str, before: tuple[int, bytes] | None) -> tuple[str, str | None]:
    """The verdict on both sides of a folder, each part judged from its bytes by a task, and the certificate of a run."""
    parts = _native.sides_parts(policy, folder)
    tasks = min(parts, max(1, run.spark.sparkContext.defaultParallelism * 4))

    def judge(batches: Batches) -> Batches:
        _begin()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _state(number, _native.sides_judge(policy, folder, number))

    rows = run.spark.range(0, parts, 1, tasks).mapInArrow(judge, "shard int, state binary").collect()
    states = [run._noted("groups of a part", bytes(row["state"])) for row in rows]
    return _native.sides_verdict(policy, folder, states, before)
