"""Builds the wheel `paceline-VERSION-py3-none-PLATFORM.whl`, which carries libpaceline.so.1: a build backend as PEP 517 has it,
and a script: wheel_backend.py [FOLDER].

CMake builds the library's target libpaceline_wheel, into which zlib, libzstd, libyaml and SQLite are linked where their archives
are installed. What the library still needs, other than the C library, is put beside it: GCC's libgomp. $PACELINE_BUILD names a
finished build tree to take the library from; without it one is made in build/wheel.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
# The C library and its parts, which every Linux has.
OF_THE_SYSTEM = re.compile(r"(libc|libm|libmvec|libdl|libpthread|librt|ld-linux.*)\.so")
# The module reads the interface from them.
HEADERS = ("paceline.h", "calibrate.h", "train.h")
# Debian packages whose licences apply to what the wheel carries.
PACKAGES = ("zlib1g-dev", "libzstd-dev", "libyaml-dev", "libsqlite3-dev", "libgomp1")


def version():
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(paceline VERSION ([\d.]+)", file.read()).group(1)


def built_library():
    """The path of libpaceline.so.1."""
    build = os.environ.get("PACELINE_BUILD")
    if not build:
        build = os.path.join(SOURCE, "build", "wheel")
        subprocess.run(["cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPACE_TESTS=OFF",
                        "-DPACE_CUDA=OFF"], check=True, stdout=sys.stderr)
        subprocess.run(["cmake", "--build", build, "--target", "libpaceline_wheel"], check=True, stdout=sys.stderr)
    return os.path.join(build, "wheel", "libpaceline.so.1")


def needed_beside(library):
    """Paths of the shared libraries that must travel with `library`, by name."""
    found = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    pairs = re.findall(r"^\s*(\S+) => (\S+)", found, flags=re.M)
    return {name: path for name, path in pairs if not OF_THE_SYSTEM.match(name)}


def metadata():
    return (f"Metadata-Version: 2.1\nName: paceline\nVersion: {version()}\n"
            "Summary: Where the time of a training step goes, and what to change first\n"
            "License: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
            + read(os.path.join(SOURCE, "docs", "python.md")).decode())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def contents():
    """What the wheel holds: bytes by path."""
    package, library = os.path.join(HERE, "paceline"), built_library()
    info = f"paceline-{version()}.dist-info"
    files = {f"paceline/{name}": read(os.path.join(package, name)) for name in sorted(os.listdir(package))
             if name.endswith(".py")}
    for name in HEADERS:
        files[f"paceline/{name}"] = read(os.path.join(SOURCE, "include", "paceline", name))
    files["paceline/libpaceline.so.1"] = read(library)
    for name, path in sorted(needed_beside(library).items()):
        files[f"paceline/{name}"] = read(path)
    files[f"{info}/licenses/LICENSE"] = read(os.path.join(SOURCE, "LICENSE"))
    for name in PACKAGES:
        path = f"/usr/share/doc/{name}/copyright"
        if os.path.exists(path):
            files[f"{info}/licenses/{name}"] = read(path)
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: paceline\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    return info, files


def tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def record(info, files):
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into a folder and returns its name. The same tree gives the same bytes."""
    info, files = contents()
    files[f"{info}/RECORD"] = record(info, files).encode()
    name = f"paceline-{version()}-{tag()}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # without a time of its own: 1980
            entry.external_attr = (0o755 if ".so" in path else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("a wheel is built from the whole source tree of Paceline: pip wheel python/")


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "build")
    os.makedirs(folder, exist_ok=True)
    print(os.path.join(folder, build_wheel(folder)))
