"""What documentation says is run: docstrings, `docs/python.md`, the notebook."""

from __future__ import annotations

import doctest
import importlib
import os
import re
from pathlib import Path

import pytest

from conftest import ROOT


@pytest.mark.parametrize("name", ["bosket", "bosket._calls", "bosket._policy", "bosket._results"])
def test_docstrings(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0
    assert found.attempted > 0 or name == "bosket._results"


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_pages(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are one program, run in a folder of its own."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": page})


def test_the_notebook(tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    notebook = nbformat.read(ROOT / "docs/clinic.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    texts = [
        str(output.get("text", "") or output.get("data", {}).get("text/plain", ""))
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    ]
    assert any("HOLDS" in text for text in texts)
