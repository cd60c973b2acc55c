"""Time of `import onmargin` in a fresh interpreter, compared with `import sklearn.linear_model`."""

import argparse
import json
import subprocess
import sys

PROBE = """
import json, sys, time
wall, cpu = time.perf_counter(), time.process_time()
import {module}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
loaded = {{name.partition(".")[0] for name in sys.modules}} - sys.stdlib_module_names
print(json.dumps([cpu, wall, sorted(name for name in loaded if not name.startswith("_"))]))
"""


def probe(module: str) -> tuple[float, float, list[str]]:
    """Return CPU and wall seconds of importing a module, and the third-party packages that it imports."""
    child = subprocess.run([sys.executable, "-c", PROBE.format(module=module)], stdout=subprocess.PIPE, check=True)
    cpu, wall, packages = json.loads(child.stdout)
    return cpu, wall, packages


def main() -> None:
    """Print a Markdown table; the imports alternate, and the best time counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10, help="turns of each import, of which the best counts")
    arguments = parser.parse_args()

    modules = ("onmargin", "sklearn.linear_model")
    turns = [[probe(module) for module in modules] for _ in range(arguments.repeats)]
    print("| import | CPU, ms | wall, ms | packages loaded |")
    print("| --- | ---: | ---: | --- |")
    for module, probes in zip(modules, zip(*turns, strict=True), strict=True):
        cpu, wall, (packages, *_) = zip(*probes, strict=True)
        print(f"| `{module}` | {1e3 * min(cpu):.1f} | {1e3 * min(wall):.1f} | {', '.join(packages)} |")


if __name__ == "__main__":
    main()
