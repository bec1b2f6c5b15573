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
    "export",
    "inspect",
    "measure",
    "report",
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
def verify(
    publication: str, policy: _Policy | None, certificate: str | None, key: str | None, told: _Told
) -> str: ...
def export(publication: str, certificate: str, form: str, about: list[tuple[str, str]], told: _Told) -> str: ...
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
def break_down() -> None: ...
