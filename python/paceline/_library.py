"""The shared library: found, loaded, its functions declared as its headers say, and its failures made exceptions."""
import ctypes
import glob
import os
import sys

from . import _errors, _header

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "libpaceline.so.1"


def candidates():
    """Paths that may hold the library: the one that $PACELINE_LIBRARY names, or else the wheel's, a build tree's, this
    environment's, and last the bare name, which the dynamic linker looks up."""
    named = os.environ.get("PACELINE_LIBRARY")
    if named:
        return [named]
    source = os.path.dirname(os.path.dirname(HERE))
    found = [os.path.join(HERE, NAME), os.path.join(source, "build", "release", NAME),
             *sorted(glob.glob(os.path.join(sys.prefix, "lib*", NAME)))]
    return [path for path in found if os.path.exists(path)] + [NAME]


def load():
    """The library and the path it was loaded from."""
    tried = []
    for path in candidates():
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            tried.append(str(error))
    raise ImportError("paceline: " + "; ".join(tried) + " (PACELINE_LIBRARY may name the file)")


lib, path = load()
header = _header.Header(*(os.path.join(_header.find(path), name) for name in ("calibrate.h", "train.h", "paceline.h")))
header.declare(lib)


def text(raw):
    """Text of the library as str; bytes that are no UTF-8 are replaced."""
    return None if raw is None else raw.decode("utf-8", "replace")


def check(status):
    """Raises what a failed call means. Called on the thread that made the call, right after it."""
    if status:
        raise _errors.BY_STATUS.get(status, _errors.PacelineError)(text(lib.pace_message()))


def table(at):
    """What a function of the library lists by index, up to NULL."""
    found = []
    while True:
        row = at(len(found))
        if not row:
            return found
        found.append(row.contents)
