"""Reads paceline.h, so that ctypes has its types and functions from the one place that declares them."""
import ctypes
import os
import re

PLAIN = {"char": ctypes.c_char, "int": ctypes.c_int, "bool": ctypes.c_bool, "double": ctypes.c_double, "size_t": ctypes.c_size_t,
         "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "void": None}
COMMENT = re.compile(r"/\*.*?\*/", re.S)


class Parameter:
    """A parameter of a function or a field of a struct: its name and its type in C. A pointer to a function without a name of its
    own is a plain pointer."""

    def __init__(self, text):
        text = re.sub(r"^.*\(\s*\*\s*(\w+)\s*\)\s*\(.*$", r"void *\1", text.strip(), flags=re.S)
        self.name = re.search(r"(\w+)$", text).group(1)
        self.type = " ".join(text[:-len(self.name)].replace("*", " * ").split())


class Header:
    """What public headers declare: `functions` by name, `structs` (lists of fields) by name, `constants` by name."""

    def __init__(self, *paths):
        self.functions, self.structs, self.enums, self.callbacks, self.constants = {}, {}, {}, {}, {}
        self._types = {}
        for path in paths:
            with open(path, encoding="utf-8") as file:
                self._read(file.read())

    def _read(self, text):
        text = COMMENT.sub("", text)
        if not re.search(r"\nPACE_API\b", text):  # the header of another library
            return
        for result, name, parameters in re.findall(r"\nPACE_API\s+([^;(]*?)(\w+)\(([^;]*)\);", text):
            self.functions[name] = (" ".join(result.replace("*", " * ").split()), parameters_of(parameters))
        for body, name in re.findall(r"typedef struct \{(.*?)\n\} (\w+);", text, re.S):
            self.structs[name] = list(fields(body))
        for body, name in re.findall(r"typedef enum \{(.*?)\} (\w+);", text, re.S):
            self.enums[name] = [word.strip() for word in body.replace("= 0", "").split(",") if word.strip()]
            self.constants.update({word: value for value, word in enumerate(self.enums[name])})
        for result, name, parameters in re.findall(r"typedef ([\w *]+?)\(\*(\w+)\)\(([^;]*)\);", text):
            self.callbacks[name] = (result.strip(), parameters_of(parameters))

    def type(self, text):
        """The ctypes type of a type in C."""
        if text not in self._types:
            self._types[text] = self._make(text)
        return self._types[text]

    def _make(self, text):
        words = text.replace("const ", "").replace("const", "").split()
        if words == ["char", "*"]:
            return ctypes.c_char_p
        if words[-1] == "*":
            inner = " ".join(words[:-1])
            plain = inner in PLAIN and inner != "void" or inner in self.structs or inner.endswith("*")
            return ctypes.POINTER(self.type(inner)) if plain else ctypes.c_void_p
        name = words[0]
        if name in PLAIN:
            return PLAIN[name]
        if name in self.enums:
            return ctypes.c_int
        if name in self.callbacks:
            result, parameters = self.callbacks[name]
            return ctypes.CFUNCTYPE(self.type(result), *(self.type(p.type) for p in parameters))
        if name not in self.structs:
            return ctypes.c_void_p
        return type(name, (ctypes.Structure,), {"_fields_": [(f.name, self.type(f.type)) for f in self.structs[name]]})

    def declare(self, library):
        """Gives the functions of a loaded library their types."""
        for name, (result, parameters) in self.functions.items():
            entry = getattr(library, name)
            entry.restype = self.type(result)
            entry.argtypes = [self.type(parameter.type) for parameter in parameters]


def parameters_of(text):
    """Parameters between parentheses; commas inside of inner ones part nothing."""
    return [Parameter(part) for part in re.split(r",(?![^(]*\))", text) if part.strip() not in ("", "void")]


def fields(body):
    """The fields of a struct, in order."""
    for statement in body.split(";"):
        if not statement.strip():
            continue
        if "(" in statement:
            yield Parameter(statement)
            continue
        head, *others = statement.split(",")
        first = Parameter(head)
        yield first
        for other in others:
            stars = first.type.replace("*", "").strip() + " * " * other.count("*")
            yield Parameter(f"{stars} {other.replace('*', '').strip()}")


def find(library):
    """The folder with the headers that belong to the library at this path: beside the module, in the source tree, or
    installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [here, os.path.join(here, "..", "..", "include", "paceline")]
    places += [os.path.join(os.path.dirname(library), *up, "include", "paceline") for up in ([".."], ["..", ".."])]
    for place in places:
        if os.path.exists(os.path.join(place, "paceline.h")):
            return place
    raise ImportError(f"paceline: found no paceline.h beside {here} or {library}")
