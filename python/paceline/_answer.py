"""What the library answered: values by path, tables by column, and the whole as a document."""
import array
import ctypes
import difflib
import json
import os
import weakref
from collections.abc import Mapping, Sequence

from ._errors import FileError, UsageError
from ._library import check, header, lib, text

NOTHING, INTEGER, REAL, BOOL, TEXT = range(5)
BY_SUFFIX = {".txt": "table", ".json": "json", ".csv": "csv", ".html": "html", ".htm": "html"}
VALUE, TABLE, COLUMN, WRITE = (header.type(name) for name in ("pace_value_fn", "pace_table_fn", "pace_column_fn", "pace_write_fn"))


def closest(name, names):
    """" (did you mean ...?)", or nothing."""
    near = difflib.get_close_matches(name, list(names), 1)
    return f" (did you mean {near[0]}?)" if near else ""


class Column(Sequence):
    """A column of a table: a sequence of int, float (nan where there is no number) or str (None where there is no text).

    `data` is a memoryview of the numbers, None for text. `numpy.asarray(column)` shares that memory.
    """

    def __init__(self, name, items):
        self.name, self._items = name, items

    @property
    def data(self):
        return memoryview(self._items) if isinstance(self._items, array.array) else None

    def __len__(self):
        return len(self._items)

    def __getitem__(self, index):
        return self._items[index]

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __array__(self, dtype=None, copy=None):
        import numpy
        if self.data is None:
            return numpy.array(self._items, dtype=dtype or object)
        shared = numpy.frombuffer(self._items, dtype=self._items.typecode)
        return shared if dtype is None and not copy else shared.astype(dtype or shared.dtype)

    def __repr__(self):
        shown = ", ".join(map(repr, self._items[:6])) + (", ..." if len(self) > 6 else "")
        return f"Column({self.name!r}, [{shown}])"


class Table(Mapping):
    """A table of an answer: columns by name, read when they are asked for."""

    def __init__(self, answer, path, rows):
        self.path, self.row_count, self._answer = path, rows, answer
        self._numbers, self._kinds, self._read = {}, {}, {}
        ended = ctypes.c_int()

        def take(_, column):
            name = text(column.contents.key)
            self._numbers[name] = len(self._numbers)
            self._kinds[name] = column.contents.kind
            return 0

        check(lib.pace_report_visit_columns(answer._report, ended, path.encode(), COLUMN(take), None))

    def _cells(self, kind, function, name):
        cells = (kind * self.row_count)()
        check(function(self._answer._report, cells, self.path.encode(), self._numbers[name]))
        return cells

    def _column(self, name):
        kind = self._kinds[name]
        if kind == INTEGER:
            return array.array("q", self._cells(ctypes.c_int64, lib.pace_report_column_integers, name))
        if kind == NOTHING:
            return [None] * self.row_count
        numbers = array.array("d", self._cells(ctypes.c_double, lib.pace_report_column_reals, name))
        if kind == REAL:
            return numbers
        texts = self._cells(ctypes.c_char_p, lib.pace_report_column_texts, name)
        return [text(word) if word is not None else number if number == number else None
                for word, number in zip(texts, numbers)]

    def __getitem__(self, name):
        if name not in self._read:
            if name not in self._kinds:
                raise KeyError(f"table {self.path} has no column {name}{closest(name, self._kinds)}")
            self._read[name] = Column(name, self._column(name))
        return self._read[name]

    def __iter__(self):
        return iter(self._kinds)

    def __len__(self):
        return len(self._kinds)

    def rows(self):
        """The rows, each a dict."""
        return [dict(zip(self, cells)) for cells in zip(*self.values())]

    def to_frame(self):
        """The table as a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame({name: column if column.data is None else column.__array__() for name, column in self.items()},
                                columns=list(self))

    def __repr__(self):
        return f"Table({self.path!r}, {self.row_count} rows of {', '.join(self)})"


class Answer:
    """The answer to one question. `answer["step.walked_ns"]` is a value by its path; `values` is all of them."""

    def __init__(self, report, context=None):
        self._report, self._context = report, context  # the context lives as long as its answers
        self._finalizer = weakref.finalize(self, lib.pace_report_free, report)
        self._values = self._tables = None

    @property
    def values(self):
        """Every value by path, in the order of the document: int, float, bool, str or None."""
        if self._values is None:
            found = {}

            def take(_, item):
                value = item.contents
                found[text(value.path)] = (None, value.integer, value.real, bool(value.integer), text(value.text))[value.kind]
                return 0

            lib.pace_report_visit_values(self._report, VALUE(take), None)
            self._values = found
        return self._values

    def __getitem__(self, path):
        values = self.values
        if path not in values:
            raise KeyError(f"no value {path} in this answer{closest(path, values)}")
        return values[path]

    def __contains__(self, path):
        return path in self.values

    @property
    def tables(self):
        """Every table by path."""
        if self._tables is None:
            found = []

            def take(_, item):
                found.append((text(item.contents.path), item.contents.row_count))
                return 0

            lib.pace_report_visit_tables(self._report, TABLE(take), None)
            self._tables = {path: Table(self, path, rows) for path, rows in found}
        return self._tables

    def to_frame(self, table=None):
        """A table as a pandas.DataFrame; without a name, the first one."""
        tables = self.tables
        if table is None:
            table = next(iter(tables), None)
        if table not in tables:
            raise KeyError(f"no table {table} in this answer; it has {', '.join(tables) or 'none'}")
        return tables[table].to_frame()

    @property
    def warnings(self):
        """What the reader must know: a list of sentences."""
        return [text(lib.pace_report_warning(self._report, i)) for i in range(lib.pace_report_warning_count(self._report))]

    @property
    def summary(self):
        """The sentences that lead the answer."""
        return json.loads(self.json())["summary"]

    # --- as a document

    def _write(self, format, take, table=None, width=0, color=False):
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
        options = header.type("pace_write_options")(table=None if table is None else table.encode(), width=width, color=color)
        status = lib.pace_report_write(self._report, names.index(format), options, WRITE(write), None)
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

    def save(self, path, format=None, table=None):
        """Writes a file. Its format is the suffix's (.txt, .json, .csv, .html), unless `format` names one."""
        suffix = os.path.splitext(os.fspath(path))[1]
        if format is None and suffix not in BY_SUFFIX:
            raise UsageError(f"{path}: the suffix names no format: expected {', '.join(BY_SUFFIX)}, or format=")
        try:
            with open(path, "wb") as file:
                self._write(format or BY_SUFFIX[suffix], file.write, table=table)
        except OSError as error:
            raise FileError(error.errno, error.strerror, error.filename) from error

    def __str__(self):
        return self.text()

    def __repr__(self):
        return f"<paceline.Answer: {len(self.values)} values, {len(self.tables)} tables>"
