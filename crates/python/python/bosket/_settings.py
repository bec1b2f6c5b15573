"""What every call can be told."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
NativeTold: TypeAlias = tuple[int | None, int | None, bool, Progress | None]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every call can be told. Results never depend on it."""

    threads: int | None = None
    """Threads to use; as many as there are processors if not given."""
    memory: int | None = None
    """Bytes for reading, searching and counting; half of the machine's memory if not given."""
    show_values: bool = False
    """Messages and results may name values of the private data."""
    progress: bool | Progress = False
    """Show progress with tqdm, if it is installed; or a function that gets the stage, its steps and those done."""
    key: str | None = None
    """The file of the private key that shifts dates and makes pseudonyms."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        given = dict(given)
        if given.get("key") is not None:
            given["key"] = os.fspath(given["key"])
        return cls(**given)

    def native(self) -> NativeTold:
        """The settings as the native half takes them."""
        progress = self.progress if callable(self.progress) else (_bar() if self.progress else None)
        return self.threads, self.memory, self.show_values, progress


class _Bar:
    """Bars of tqdm, one per stage; the last is gone with the call that it was for."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, stage: str, steps: int, done: int) -> None:
        if self._bar is None or self._bar.desc != stage:
            self.close()
            self._bar = self._tqdm(total=steps or None, desc=stage, leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __del__(self) -> None:
        self.close()


def _bar() -> Progress | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return _Bar(tqdm)
