"""The Python that peers run in: an environment of its own, beside the build."""
import os
import subprocess
import sys


def peer_python(build, modules):
    """The interpreter, with these packages installed where they are missing; they are imported by the same names."""
    folder = os.path.join(build, "bench-venv")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode:
        subprocess.run([python, "-m", "pip", "-q", "install", *modules], check=True)
    return python
