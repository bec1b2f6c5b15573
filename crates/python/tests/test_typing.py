"""The package is typed, and its stubs say what is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT

USE = '''
import pyarrow as pa
import bosket as bk

frame = pa.table({"age": [1, 2]})
look: bk.Look = bk.inspect(frame)
policy: bk.Policy = look.draft()
policy.check(frame)
pub: bk.Publication = bk.anonymize(frame, policy)
verdict: bk.Verdict = bk.verify(pub, policy)
verdict.require()
attack: bk.Attack = bk.attack({"a": frame}, pub, policy, m=[1, 2])
loss: bk.Loss = bk.measure("in.parquet", pub, policy)
rows: bk.Sweep = bk.sweep(frame, policy, k=[2, 5])
path = pub.write("out.parquet")
reveal_type(path)
'''


def ran(*args: str) -> str:
    done = subprocess.run([sys.executable, "-m", *args], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_passes_mypy_strict(tmp_path: Path) -> None:
    cache = ("--cache-dir", str(tmp_path / "cache"))
    ran("mypy", "--strict", *cache, "--ignore-missing-imports", str(ROOT / "crates/python/python/bosket"))
    (tmp_path / "use.py").write_text(USE, "utf-8")
    said = ran("mypy", "--strict", *cache, "--ignore-missing-imports", str(tmp_path / "use.py"))
    assert "pathlib.Path" in said


def test_the_stubs_say_what_is_there() -> None:
    ran("mypy.stubtest", "bosket._native")
