"""What the tasks of a cluster send, and how long they take: the figures of docs/spark.md.

    bosket generate baskets --transactions 320000 --out baskets
    python scripts/spark-figures.py baskets 20000 80000 320000

Every task is run here, one after the other, as a cluster would run it: partitions of 20,000 baskets, k = 5, m = 3, `aa`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow as pa

import bosket as bk
from bosket import _native

ROWS, MEMORY = 20_000, 512 << 20


def figures(folder: Path, lines: list[str]) -> None:
    table = pa.table({"items": pa.array([line.split() for line in lines], pa.list_(pa.string()))})
    parts = [table.slice(at, ROWS) for at in range(0, len(lines), ROWS)]
    policy = bk.Policy(
        model="km", k=5, m=3, algorithm="aa", folder=folder,
        attributes={"items[]": {"role": "quasi", "hierarchy": "hierarchies/item.csv"}},
    )
    path, text, sets, *_ = _native.spark_policy(policy._native(), "published")
    given = (str(path), text, sets)

    def told(what: str, begun: float, states: list[bytes], merged: bytes) -> None:
        taken = (time.process_time() - begun) / len(parts)
        sizes = max(map(len, states))
        print(f"| {len(lines):,} | {what} | {taken * 1e6 / ROWS:.1f} | {sizes / 1e3:,.1f} | {len(merged) / 1e3:,.1f} |", flush=True)

    def counted(what: str, plan: bytes, found: bytes) -> bytes:
        begun = time.process_time()
        states = [_native.spark_count(what, given, plan, found, part, MEMORY) for part in parts]
        merged = _native.spark_merge(what, states)
        told(what, begun, states, merged)
        return merged

    plan, _, _ = _native.spark_plan(given, counted("survey", b"", b""))
    sums = counted("frequencies", plan, b"")
    first = True

    def kernels(labels: list[int], size: int) -> bytes:
        nonlocal first
        begun, cut = time.process_time(), (labels, size)
        states = [_native.spark_kernel(plan, cut, part, number, MEMORY) for number, part in enumerate(parts)]
        merged = _native.spark_merge_kernels(plan, cut, states, MEMORY)
        at = "the leaves" if first else f"{len(set(labels)):,} labels"
        told(f"kernel for sets of {size} at {at}", begun, states, merged)
        first = False
        return merged

    found = _native.spark_search(plan, sums, True, kernels, MEMORY)
    shape = counted("shape", plan, found)
    begun = time.process_time()
    texts = [_native.spark_recode(plan, found, shape, part, MEMORY) for part in parts]
    print(f"| {len(lines):,} | recode | {(time.process_time() - begun) * 1e6 / len(lines):.1f} | {max(len(b''.join(t)) for t in texts) / 1e3:,.1f} | – |")
    print(f"| {len(lines):,} | plan, solution | – | {len(plan) / 1e3:,.1f} | {len(found) / 1e3:,.1f} |", flush=True)


if __name__ == "__main__":
    folder, *numbers = sys.argv[1:]
    everything = (Path(folder) / "data.txt").read_text("utf-8").splitlines()
    print("| baskets | task | µs per record | KB of a task | KB merged |\n| --- | --- | ---: | ---: | ---: |")
    for number in map(int, numbers):
        figures(Path(folder), everything[:number])
