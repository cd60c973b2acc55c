"""The C kernels compiled for 64-bit ARM, run by an emulator, have the results of those compiled for this machine.

The latter are compared with NumPy by the other tests. Debian: apt install gcc-aarch64-linux-gnu qemu-user
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

KERNELS = Path(__file__).parents[2] / "src" / "onmargin" / "_core" / "kernels"
SOURCES = [
    Path(__file__).with_name("kernels.c"),
    *(KERNELS / f"{name}.c" for name in ("vec", "metric", "matrix", "expansion", "odds", "votes")),
]
NEEDED = "cc", "aarch64-linux-gnu-gcc", "qemu-aarch64"
MISSING = [name for name in NEEDED if shutil.which(name) is None]


def results(folder: Path, compiler: str, *emulator: str) -> list[list[str]]:
    """Compile and run the program that prints the results of all kernels."""
    program = folder / compiler
    flags = ["-O1", "-static", "-fno-math-errno", "-Wall", "-Wextra", "-Werror", f"-I{KERNELS}"]
    subprocess.run([compiler, *flags, *SOURCES, "-o", program, "-lm"], check=True)
    lines = subprocess.run([*emulator, program], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split() for line in lines]


@pytest.mark.full
@pytest.mark.skipif(bool(MISSING) or not KERNELS.exists(), reason=f"needs the sources and {', '.join(MISSING)}")
def test_results_are_the_same_on_arm(tmp_path):
    here = results(tmp_path, "cc")
    there = results(tmp_path, "aarch64-linux-gnu-gcc", "qemu-aarch64")
    assert [(name, len(numbers)) for name, *numbers in here] == [(name, len(numbers)) for name, *numbers in there]
    for (name, *expected), (_, *found) in zip(here, there, strict=True):
        tolerance = 1e-5 if name.endswith("float") else 1e-12
        np.testing.assert_allclose(
            np.array(found, float), np.array(expected, float), tolerance, tolerance, err_msg=name
        )
