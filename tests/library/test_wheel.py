"""pip makes a wheel of python/ without a network; installed alone into a fresh environment, it answers a question with the library
that it carries, which needs nothing but the C library beside what lies in the wheel."""
import os
import re
import sys
import tempfile

from outside import SOURCE, output

OF_THE_SYSTEM = re.compile(r"(libc|libm|libmvec|libdl|libpthread|librt|ld-linux.*)\.so")
QUESTION = """
import os, paceline
print(os.path.dirname(os.path.dirname(paceline.__file__)))
print(paceline.library_path)
print(paceline.machines("h100-80-sxm").text().splitlines()[0])
"""


def main():
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PACELINE_LIBRARY")}
    with tempfile.TemporaryDirectory() as folder:
        venv = os.path.join(folder, "venv")
        output(sys.executable, "-m", "venv", venv)
        pip, python = os.path.join(venv, "bin", "pip"), os.path.join(venv, "bin", "python")
        output(pip, "wheel", "--no-index", "--no-deps", "-w", folder, os.path.join(SOURCE, "python"), env=clean)
        (wheel,) = [name for name in os.listdir(folder) if name.endswith(".whl")]
        output(pip, "install", "--no-index", "--no-deps", os.path.join(folder, wheel), env=clean)
        home, library, line = output(python, "-B", "-c", QUESTION, cwd=folder, env=clean).splitlines()
        needed = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", library))
        faults = [f"{name} is neither of the system nor in the wheel" for name in needed
                  if not OF_THE_SYSTEM.match(name) and not os.path.exists(os.path.join(os.path.dirname(library), name))]
        if not os.path.realpath(library).startswith(os.path.realpath(home)):
            faults.append(f"the library is {library}, which is not the wheel's")
        if line != "h100-80-sxm (NVIDIA)":
            faults.append(line)
    for fault in faults:
        print("wrong:", fault)
    return 1 if faults else 0


sys.exit(main())
