"""The documentation's examples and the notebook do what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_example_of_the_page_runs(tmp_path):
    pytest.importorskip("polars")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) > 5
    # Processes that are spawned import the script anew, up to the guard: what is below stays below.
    before, guarded = [], []
    for block in blocks:
        (guarded if guarded or "__main__" in block else before).append(block)
    body = "\n".join("    " + line for block in before for line in block.splitlines())
    script = tmp_path / "example.py"
    script.write_text(f"if __name__ == '__main__':\n{body}\n" + "\n".join(_under_guard(guarded)))
    subprocess.run([sys.executable, script], cwd=tmp_path, check=True)


def _under_guard(blocks):
    for block in blocks:
        lines = [line for line in block.splitlines()]
        imports = [line for line in lines if line.startswith(("import", "from"))]
        rest = [line for line in lines if line not in imports]
        yield "\n".join(imports + ["if __name__ == '__main__':"] + ["    " + line for line in rest] + ["    pass"])


def test_the_notebook_tells_its_story(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(ROOT / "docs" / "write-cliff.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    told = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("<svg" in output.get("data", {}).get("text/html", "") for output in told)
    nbformat.write(notebook, tmp_path / "executed.ipynb")


def test_types_and_stubs_hold(tmp_path):
    pytest.importorskip("mypy")
    for tool in (["mypy", "--strict", "-p", "writecliff"], ["mypy.stubtest", "writecliff"]):
        subprocess.run([sys.executable, "-m", *tool], cwd=tmp_path, check=True)
