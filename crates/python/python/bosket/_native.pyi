from collections.abc import Callable
from typing import Any, TypeAlias

_Policy: TypeAlias = tuple[str, str | None, list[str]]
_Source: TypeAlias = tuple[str | None, list[tuple[str, Any]], bool]
_Told: TypeAlias = tuple[int | None, int | None, bool, Callable[[str, int, int], None] | None]

__all__ = [
    "__version__",
    "anonymize",
    "attack",
    "break_down",
    "check",
    "convert",
    "inspect",
    "measure",
    "report",
    "spark_count",
    "spark_judge_part",
    "spark_judge_rows",
    "spark_kernel",
    "spark_merge",
    "spark_merge_judged",
    "spark_merge_kernels",
    "spark_parts",
    "spark_plan",
    "spark_policy",
    "spark_recode",
    "spark_search",
    "spark_sheet",
    "spark_verdict",
    "spark_write_part",
    "sweep",
    "tables",
    "verify",
    "write",
]

__version__: str

def inspect(
    source: _Source,
    folder: str,
    reading: tuple[str | None, str | None, str | None, list[str], str | None],
    told: _Told,
) -> str: ...
def check(policy: _Policy, source: _Source | None, folder: str, key: str | None, told: _Told) -> str: ...
def anonymize(
    policy: _Policy, source: _Source, folder: str, key: str | None, measure: bool, told: _Told
) -> str: ...
def verify(publication: str, policy: _Policy | None, certificate: str | None, told: _Told) -> str: ...
def attack(
    policy: _Policy,
    source: _Source,
    publication: str | None,
    strengths: tuple[list[int] | None, list[int] | None, int | None, int | None],
    told: _Told,
) -> str: ...
def measure(policy: _Policy, source: _Source, publication: str, told: _Told) -> str: ...
def sweep(
    policy: _Policy, source: _Source, lists: list[tuple[str, list[str]]], mining: bool, told: _Told
) -> str: ...
def report(
    policy: _Policy,
    source: _Source,
    publication: str,
    certificate: str | None,
    out: tuple[str, bool, bool],
    told: _Told,
) -> str: ...
def tables(policy: _Policy, path: str) -> list[tuple[str, Any]]: ...
def write(policy: _Policy | None, frame: Any, folder: str) -> str: ...
def convert(input: str, output: str, force: bool) -> None: ...
def spark_policy(policy: _Policy, folder: str | None) -> tuple[str, str, list[str], str | None]: ...
def spark_parts(policy: _Policy, folder: str) -> int: ...
def spark_judge_part(policy: _Policy, folder: str, number: int, memory: int) -> bytes: ...
def spark_judge_rows(policy: _Policy, rows: Any, number: int, memory: int) -> bytes: ...
def spark_merge_judged(policy: _Policy, states: list[bytes], memory: int) -> bytes: ...
def spark_verdict(
    policy: _Policy, folder: str | None, state: bytes, figures: str | None, memory: int
) -> tuple[str, str | None]: ...
def spark_write_part(path: str, sheet: bytes, spelled: list[str], texts: list[bytes]) -> None: ...
def spark_count(
    what: str, policy: _Policy, plan: bytes, found: bytes, rows: Any, memory: int
) -> bytes: ...
def spark_merge(what: str, states: list[bytes]) -> bytes: ...
def spark_plan(policy: _Policy, survey: bytes) -> tuple[bytes, int, bool]: ...
def spark_kernel(
    plan: bytes, cut: tuple[list[int], int], rows: Any, number: int, memory: int
) -> bytes: ...
def spark_merge_kernels(
    plan: bytes, cut: tuple[list[int], int], states: list[bytes], memory: int
) -> bytes: ...
def spark_search(
    plan: bytes, frequencies: bytes, may_part: bool, kernels: Callable[[list[int], int], bytes], memory: int
) -> bytes: ...
def spark_recode(
    plan: bytes, found: bytes, shape: bytes, rows: Any, memory: int
) -> list[bytes]: ...
def spark_sheet(
    plan: bytes, found: bytes, shape: bytes, source: Any, memory: int
) -> tuple[bytes, int, str]: ...
def break_down() -> None: ...
