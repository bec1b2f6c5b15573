"""Exceptions by fault, Ctrl-C, warnings, progress, and silence."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pyarrow as pa
import pytest

import bosket as bk
from bosket import _native
from conftest import BINARY, policy, table


def test_exceptions_are_of_one_family() -> None:
    for each in (bk.PolicyError, bk.DataError, bk.Unreachable, bk.EnvironmentFault, bk.Violated, bk.Defect):
        assert issubclass(each, bk.BosketError)


def test_a_panic_is_a_defect_with_its_place(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(bk.Defect, match=r"at crates/python/src/watch\.rs:\d+") as raised:
        _native.break_down()
    assert "please report it" in str(raised.value)
    assert capfd.readouterr() == ("", "")


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pub = bk.anonymize(table(), policy())
    pub.write(tmp_path / "out.parquet")
    bk.verify(pub)
    assert capfd.readouterr() == ("", "")


def test_what_is_not_there_is_the_machines_fault() -> None:
    with pytest.raises(bk.BosketError) as raised:
        bk.inspect("absent.parquet")
    assert isinstance(raised.value, (bk.DataError, bk.EnvironmentFault))
    assert "absent.parquet" in str(raised.value)


def test_warnings_are_pythons_own() -> None:
    attributes = {
        "age": {"role": "quasi", "hierarchy": {"build": "interval", "min": 0, "max": 100, "widths": [10, 50]}},
        "shoe": "sensitive",
    }
    absent = bk.Policy(model="k-anonymity", k=2, attributes=attributes)
    with pytest.warns(bk.BosketWarning, match="no attribute `shoe`") as told:
        bk.anonymize(pa.table({"age": [30, 31]}), absent)
    assert Path(told[0].filename).name == "test_errors.py"
    with warnings.catch_warnings():
        warnings.simplefilter("error", bk.BosketWarning)
        with pytest.raises(bk.BosketWarning):
            bk.anonymize(pa.table({"age": [30, 31]}), absent)


def test_an_exception_says_what_the_command_line_prints(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("version = 1\n[privacy]\nmodel = 'kmnn'\nk = 'two'\n", "utf-8")
    done = subprocess.run([str(BINARY), "policy", "check", "p.toml"], cwd=tmp_path, capture_output=True, text=True)
    with pytest.raises(bk.PolicyError) as raised:
        bk.Policy(text=(tmp_path / "p.toml").read_text("utf-8"), folder="").check()
    assert str(raised.value).replace("policy.toml", "p.toml") == done.stderr.strip()
    assert len(raised.value.diagnostics) >= 2


def test_progress() -> None:
    seen: list[tuple[str, int, int]] = []
    bk.anonymize(table(3000), policy(), progress=lambda stage, steps, done: seen.append((stage, steps, done)))
    assert seen and all(stage for stage, _, _ in seen)
    bk.anonymize(table(), policy(), progress=True)


def test_what_progress_raises_ends_the_run() -> None:
    def fed_up(stage: str, steps: int, done: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bk.anonymize(table(30000), policy(), progress=fed_up)


LONG = """
import sys
sys.path.insert(0, {tests!r})
from conftest import policy, table
import bosket as bk
frame = table(100_000)
print("begun", flush=True)
try:
    bk.anonymize(frame, policy(model="kmn", k=50, m=3, n=2))
except KeyboardInterrupt:
    print("stopped", flush=True)
else:
    print("done", flush=True)
"""


def test_ctrl_c_stops_within_a_second() -> None:
    code = LONG.format(tests=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as work:
        assert work.stdout is not None
        assert work.stdout.readline() == "begun\n"
        time.sleep(0.7)
        begun = time.monotonic()
        work.send_signal(signal.SIGINT)
        said = work.stdout.readline()
        took = time.monotonic() - begun
        assert said == "stopped\n", work.communicate()
        assert took < 1.0


def test_other_threads_go_on_meanwhile() -> None:
    frame, ticks, done = table(20_000), 0, threading.Event()

    def work() -> None:
        bk.inspect(frame)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 3
