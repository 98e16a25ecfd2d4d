"""Reads paceline.h: types for ctypes, functions, and what their comments say. The header is the one description of the
interface; what is declared there is what Python offers."""
import ctypes
import os
import re

PLAIN = {"int": ctypes.c_int, "bool": ctypes.c_bool, "double": ctypes.c_double, "size_t": ctypes.c_size_t,
         "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "void": None}
COMMENT = re.compile(r"/\*\*?<?(.*?)\*/", re.S)


def prose(comment):
    """The words of a comment, on one line."""
    return " ".join(line.strip().lstrip("*").strip() for line in comment.strip("/*<").splitlines()).strip()


class Parameter:
    """A parameter of a function or a field of a struct: its name, its type in C, and the comment behind it."""

    def __init__(self, text, doc=""):
        text = text.strip()
        self.name = re.search(r"(\w+)$", text).group(1)
        self.type = " ".join(text[:-len(self.name)].replace("*", " * ").split())
        self.doc = doc

    def __repr__(self):
        return f"{self.type} {self.name}"


class Function:
    def __init__(self, name, result, parameters, doc):
        self.name, self.result, self.parameters, self.doc = name, result, parameters, doc


class Header:
    """What public headers declare: `functions` by name, `structs` (lists of fields) by name, `constants` by name."""

    def __init__(self, *paths):
        self.functions, self.structs, self.enums, self.callbacks, self.constants = {}, {}, {}, {}, {}
        self._types = {}
        for path in paths:
            with open(path, encoding="utf-8") as file:
                self._read(file.read())

    def _read(self, text):
        for doc, result, name, parameters in re.findall(
                r"(?:/\*\*((?:(?!\*/).)*)\*/\s*)?\nPACE_API\s+([^;(]*?)(\w+)\(([^;]*)\);", text, re.S):
            words = [Parameter(p) for p in COMMENT.sub("", parameters).split(",") if p.strip() not in ("", "void")]
            self.functions[name] = Function(name, " ".join(result.replace("*", " * ").split()), words, prose(doc))
        for body, name in re.findall(r"typedef struct \{(.*?)\n\} (\w+);", text, re.S):
            self.structs[name] = list(fields(body))
        for body, name in re.findall(r"typedef enum \{(.*?)\} (\w+);", text, re.S):
            self.enums[name] = [word.split("=")[0].strip() for word in COMMENT.sub("", body).split(",") if word.strip()]
            self.constants.update({word: value for value, word in enumerate(self.enums[name])})
        for result, name, parameters in re.findall(r"typedef ([\w *]+?)\(\*(\w+)\)\(([^;]*)\);", text):
            self.callbacks[name] = (result.strip(), [Parameter(p) for p in parameters.split(",")])

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
        for name, function in self.functions.items():
            entry = getattr(library, name)
            entry.restype = self.type(function.result)
            entry.argtypes = [self.type(p.type) for p in function.parameters]


def fields(body):
    """The fields of a struct, in order; a function pointer without a name of its own is a plain pointer."""
    for statement, doc in re.findall(r"\s*((?:[^;/]|/(?!\*))+);(?:[ \t]*\n?[ \t]*/\*\*<(.*?)\*/)?", without_comments(body), re.S):
        pointer = re.match(r"\s*[\w ]+\(\*(\w+)\)\(", statement)
        if pointer:
            yield Parameter(f"void * {pointer.group(1)}", prose(doc))
            continue
        head, *others = statement.strip().split(",")
        first = Parameter(head, prose(doc))
        yield first
        for other in others:
            stars = first.type.replace("*", "").strip() + " * " * other.count("*")
            yield Parameter(f"{stars} {other.replace('*', '').strip()}", prose(doc))


def without_comments(body):
    """A struct's body without the comments that stand before fields, not behind them."""
    return re.sub(r"/\*\*(?!<).*?\*/", "", body, flags=re.S)


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
