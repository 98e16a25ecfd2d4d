"""Installed under a prefix that is moved afterwards, the library serves programs outside the tree: found by pkg-config and by
CMake, shared and static."""
import os
import re
import shlex
import shutil
import sys
import tempfile

from outside import BUILD, SOURCE, output

CONSUMER = os.path.join(SOURCE, "tests", "library", "consumer")


def compile_by_pkg_config(folder, libraries, *static):
    """The program, compiled with what pkg-config says; `static` adds what an archive needs and links the archive."""
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"))
    flags = shlex.split(output("pkg-config", *static, "--cflags", "--libs", "paceline", env=environment))
    if static:
        flags = ["-l:libpaceline.a" if flag == "-lpaceline" else flag for flag in flags]
    program = os.path.join(folder, "by_pkg_config" + "".join(static))
    output("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", os.path.join(CONSUMER, "consumer.c"), "-o", program, *flags)
    return program


def compile_by_cmake(folder, prefix):
    build = os.path.join(folder, "build")
    output("cmake", "-S", CONSUMER, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    output("cmake", "--build", build)
    return os.path.join(build, "with_shared"), os.path.join(build, "with_static")


def main():
    with tempfile.TemporaryDirectory() as folder:
        installed, prefix = os.path.join(folder, "installed"), os.path.join(folder, "moved")
        output("cmake", "--install", BUILD, "--prefix", installed)
        shutil.move(installed, prefix)
        version = output(os.path.join(prefix, "bin", "paceline"), "--version")
        library = next(os.path.join(at, "libpaceline.so.1") for at, _, names in os.walk(prefix) if "libpaceline.so.1" in names)
        libraries = os.path.dirname(library)
        wanted = re.search(r"\d+\.\d+\.\d+", version).group(0) + " h100-80-sxm (NVIDIA)\n"
        by_cmake, static_by_cmake = compile_by_cmake(folder, prefix)
        faults = []
        for program, shared in ((compile_by_pkg_config(folder, libraries), True), (by_cmake, True),
                                (compile_by_pkg_config(folder, libraries, "--static"), False), (static_by_cmake, False)):
            printed = output(program, env=dict(os.environ, LD_LIBRARY_PATH=libraries))
            needs = "libpaceline.so.1" in output("readelf", "-d", program)
            if printed != wanted or needs != shared:
                faults.append((os.path.basename(program), printed, "shared" if needs else "static"))
    for fault in faults:
        print("wrong:", *fault)
    return 1 if faults else 0


sys.exit(main())
