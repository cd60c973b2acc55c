"""Translate Cython modules to C in one process, and write only the files that change.

One process reads the declarations that modules share once. A file that does not change keeps its time, so that it is
not compiled again. Usage: translate.py FOLDER OPTION ... MODULE.pyx ...
"""

import subprocess
import sys
import tempfile
from pathlib import Path

folder, *arguments = sys.argv[1:]
with tempfile.TemporaryDirectory(dir=folder) as written:
    subprocess.run([sys.executable, "-m", "cython", *arguments, "-o", f"{written}/"], check=True)
    for new in Path(written).iterdir():
        old = Path(folder, new.name)
        if not old.exists() or old.read_bytes() != new.read_bytes():
            new.replace(old)
