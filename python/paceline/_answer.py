"""What the library answered: values by path, tables by column, and the whole as a document."""
import ctypes
import difflib
import json
import os
import weakref
from collections.abc import Mapping, Sequence

from ._errors import FileError, UsageError
from ._library import check, header, lib, table, text

REAL, INTEGER, TEXT, BOOL, NONE = range(5)
UNKNOWN = -2**63  # an integer of a column that is not known
BY_SUFFIX = {".txt": "table", ".json": "json", ".csv": "csv", ".html": "html", ".htm": "html", ".xml": "junit", ".folded": "folded"}
WRITE = header.type("pace_write_fn")


def closest(name, names):
    """" (did you mean ...?)", or nothing."""
    near = difflib.get_close_matches(name, list(names), 1)
    return f" (did you mean {near[0]}?)" if near else ""


class Column(Sequence):
    """A column of a table: a sequence of int, float (nan where it is not known) or str (None where it is not known).

    `data` is a read-only memoryview of the numbers, None for text. `numpy.asarray(column)` shares that memory.
    """

    def __init__(self, answer, held):
        self.name, self.title, self.data = text(held.name), text(held.title), None
        kind, place = (ctypes.c_int64, held.integers) if held.type == INTEGER else (ctypes.c_double, held.reals)
        if held.type == TEXT or not place:
            self._items = [text(held.texts[i]) if held.texts else None for i in range(held.length)]
            return
        cells = (kind * held.length).from_address(ctypes.addressof(place.contents))
        cells.answer = answer  # owns the memory
        self._items = self.data = memoryview(cells).cast("B").cast("q" if held.type == INTEGER else "d").toreadonly()

    def __len__(self):
        return len(self._items)

    def __getitem__(self, index):
        found = self._items[index]
        if isinstance(index, slice):
            return [None if item == UNKNOWN else item for item in found]
        return None if found == UNKNOWN else found

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __array__(self, dtype=None, copy=None):
        import numpy
        if self.data is None:
            return numpy.array(self._items, dtype=dtype or object)
        shared = numpy.frombuffer(self.data, dtype=self.data.format)
        if self.data.format == "q" and (shared == UNKNOWN).any():
            shared = numpy.where(shared == UNKNOWN, numpy.nan, shared)
        return shared if dtype is None and not copy else shared.astype(dtype or shared.dtype)

    def __repr__(self):
        return f"Column({self.name!r}, [{', '.join(map(repr, self[:6]))}{', ...' if len(self) > 6 else ''}])"


class Table(Mapping):
    """A table of an answer: columns by name."""

    def __init__(self, answer, held):
        self.path, self.title, self.row_count = text(held.path), text(held.title), held.rows
        self._answer, self._read = answer, {}
        self._held = {text(held.columns[i].name): held.columns[i] for i in range(held.column_count)}

    def __getitem__(self, name):
        if name not in self._read:
            if name not in self._held:
                raise KeyError(f"table {self.path} has no column {name}{closest(name, self._held)}")
            self._read[name] = Column(self._answer, self._held[name])
        return self._read[name]

    def __iter__(self):
        return iter(self._held)

    def __len__(self):
        return len(self._held)

    def rows(self):
        """The rows, each a dict."""
        return [dict(zip(self, cells)) for cells in zip(*self.values())]

    def to_frame(self):
        """The table as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame({name: column.__array__() for name, column in self.items()}, columns=list(self))

    def __repr__(self):
        return f"Table({self.path!r}, {self.row_count} rows of {', '.join(self)})"


class Warned(str):
    """A sentence that the reader must know; its `code` for programs, its `place` (a file, row or what-if; None = the answer),
    and whether it casts doubt on the answer (`strict`)."""

    def __new__(cls, warning):
        made = super().__new__(cls, text(warning.text))
        made.code, made.place, made.strict = text(warning.code), text(warning.place), bool(warning.strict)
        return made


class Answer:
    """The answer to one question. `answer["step.walked_ns"]` is a value by its path; `values` is all of them."""

    def __init__(self, pointer):
        self._pointer = pointer
        weakref.finalize(self, lib.pace_answer_free, pointer)
        self._values = self._tables = None

    @property
    def values(self):
        """Every value by path, in the order of the document: int, float, bool, str or None."""
        if self._values is None:
            found = map(lambda i: lib.pace_answer_value_at(self._pointer, i), range(lib.pace_answer_value_count(self._pointer)))
            self._values = {text(value.path): (value.real, value.integer, text(value.text), bool(value.integer), None)[value.type]
                            for value in found}
        return self._values

    def __getitem__(self, path):
        for full in (path, f"values.{path}"):
            if full in self.values:
                return self.values[full]
        raise KeyError(f"no value {path} in this answer{closest(path, self.values)}")

    def __contains__(self, path):
        return path in self.values or f"values.{path}" in self.values

    @property
    def tables(self):
        """Every table by path; the first is the main one."""
        if self._tables is None:
            found = table(lambda index: lib.pace_answer_table_at(self._pointer, index))
            self._tables = {made.path: made for made in (Table(self, held) for held in found)}
        return self._tables

    def to_frame(self, table=None):
        """A table as a pandas.DataFrame; without a name, the main one."""
        tables = self.tables
        if table is None:
            table = next(iter(tables), None)
        if table not in tables:
            raise KeyError(f"no table {table} in this answer; it has {', '.join(tables) or 'none'}")
        return tables[table].to_frame()

    @property
    def warnings(self):
        """What the reader must know: sentences, each with `code`, `place` and `strict`; docs/warnings.md lists the codes."""
        return [Warned(lib.pace_answer_warning(self._pointer, i)) for i in range(lib.pace_answer_warning_count(self._pointer))]

    @property
    def holds(self):
        """False when the answer is "no": a bar of validate is missed."""
        return bool(lib.pace_answer_holds(self._pointer))

    @property
    def summary(self):
        """The sentences that lead the answer."""
        return json.loads(self.json())["summary"]

    # --- as a document

    def _write(self, format, take, table=None, width=0, color=False, gzip=False, zstd=False):
        """Renders; `take` is called with bytes."""
        failure = []

        def write(_, data, length):
            try:
                take(ctypes.string_at(data, length))
                return 0
            except BaseException as error:  # it must not cross the library's frames
                failure.append(error)
                return 5

        names = [name[len("PACE_FORMAT_"):].lower() for name in header.enums["pace_format"]]
        if format not in names:
            raise UsageError(f"unknown format {format}: expected {', '.join(names)}")
        kind = header.type("pace_write_options")
        options = kind(size=ctypes.sizeof(kind), table=None if table is None else table.encode(), width=width, color=color, gzip=gzip, zstd=zstd)
        status = lib.pace_answer_write(self._pointer, names.index(format), options, WRITE(write), None)
        if failure:
            raise failure[0]
        check(status)

    def _rendered(self, format, **options):
        parts = []
        self._write(format, parts.append, **options)
        return b"".join(parts).decode("utf-8", "replace")

    def text(self, width=100, color=False):
        """The answer for people, as the command line prints it."""
        return self._rendered("table", width=width, color=color)

    def json(self):
        """The answer for programs; docs/schemas/ describes it."""
        return self._rendered("json")

    def csv(self, table=None):
        """One table, by its path; without one the main table."""
        return self._rendered("csv", table=table)

    def html(self):
        """The answer as a page that needs no other file."""
        return self._rendered("html")

    def perfetto(self):
        """The timeline in the trace-event format, where the answer has one."""
        return self._rendered("perfetto")

    def junit(self):
        """Its checks as continuous integration reads them, where the answer has any."""
        return self._rendered("junit")

    def folded(self, device=False):
        """Call stacks as flame graph tools read them, of host time or of the device time they launch, where the answer has any."""
        return self._rendered("folded_device" if device else "folded")

    def save(self, path, format=None, table=None):
        """Writes a file. Its format is the suffix's (.txt, .json, .csv, .html, .xml, .folded), unless `format` names one; ".gz" or
        ".zst" behind it compresses."""
        name, packed = os.path.splitext(os.fspath(path))
        suffix = os.path.splitext(name)[1] if packed in (".gz", ".zst") else packed
        if format is None and suffix not in BY_SUFFIX:
            raise UsageError(f"{path}: the suffix names no format: expected {', '.join(BY_SUFFIX)}, or format=")
        try:
            with open(path, "wb") as file:
                self._write(format or BY_SUFFIX[suffix], file.write, table=table, gzip=packed == ".gz", zstd=packed == ".zst")
        except OSError as error:
            raise FileError(error.errno, error.strerror, error.filename) from error

    def __str__(self):
        return self.text()

    def __repr__(self):
        return f"<paceline.Answer: {len(self.values)} values, {len(self.tables)} tables>"
