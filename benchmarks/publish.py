"""Run benchmarks, and keep the tables that they print in results.json, from which pages and pictures are made.

python benchmarks/publish.py one_pass.py "stream.py --repeats 9"
python benchmarks/publish.py "quality/report.py benchmarks/quality/peers.json ours.json"

Each entry has the command, the date, the machine and the versions of the libraries.
"""

import json
import os
import platform
import re
import shlex
import subprocess
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from results import RESULTS

HERE = Path(__file__).parent
LIBRARIES = ("numpy", "scipy", "scikit-learn", "river", "vowpalwabbit", "python-crfsuite")

Table = dict[str, Any]  # its title, the names of its columns, and its rows


def read_tables(text: str) -> list[Table]:
    """Return the Markdown tables of a text, each with the heading before it."""
    tables: list[Table] = []
    title, inside = "", False
    for line in text.splitlines():
        if line.startswith("#"):
            title = line.lstrip("# ")
        if not line.startswith("|"):
            inside = False
        elif not inside:
            inside = True
            tables.append({"title": title, "columns": cells(line), "rows": []})
        elif not set(line) <= set("|-: "):
            tables[-1]["rows"].append(list(map(number, cells(line))))
    return tables


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(cell: str) -> float | str:
    """Return a cell as a number if it is one; the best of a row may be in bold."""
    plain = cell.strip("*").replace(",", "")
    return float(plain) if re.fullmatch(r"[+-]?\d+(\.\d+)?", plain) else cell


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Return the model of the processor and the number of cores."""
    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"{len(models)} cores of {models[0]}, load {os.getloadavg()[0]:.1f} at the start"


def main() -> None:
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for command in sys.argv[1:]:
        script, *arguments = shlex.split(command)
        entry = {
            "command": f"python benchmarks/{command}",
            "date": date.today().isoformat(),
            "machine": machine(),
            "versions": versions(),
        }
        ran = subprocess.run([sys.executable, HERE / script, *arguments], stdout=subprocess.PIPE, text=True, check=True)
        results[Path(script).stem] = entry | {"tables": read_tables(ran.stdout)}
        write(results)


def write(results: dict[str, Any]) -> None:
    """Write the results, one row of a table per line."""
    text = json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=False)
    innermost = re.compile(r"([\[{])\n\s+([^\[\]{}]*?)\n\s+([\]}])")
    RESULTS.write_text(innermost.sub(lambda row: row[1] + re.sub(r"\n\s+", " ", row[2]) + row[3], text) + "\n")


if __name__ == "__main__":
    main()
