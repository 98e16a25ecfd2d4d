"""Paceline: where the time of a training step goes, what it would be elsewhere, and what to change first.

Each function asks one question and returns an Answer: predict("gpt2", on="dgx-h100*2", set={"dp": 16}). Their options are
those of the command line; help(paceline.predict) lists them. docs/python.md shows them at work.
"""
from . import _question
from ._answer import Answer, Column, Table, Warned
from ._errors import (FileError, InputError, InternalError, LimitError, MissingError, OutOfMemoryError, PacelineError,
                      UsageError)
from ._library import lib as _lib, path as library_path, table as _table, text as _text
from ._question import Context

__version__ = _text(_lib.pace_version())


def warning_kinds():
    """The codes that warnings may have: {code: (what it means, whether --strict counts it)}."""
    kinds = _table(_lib.pace_warning_kind_at)
    return {_text(kind.code): (_text(kind.means), bool(kind.strict)) for kind in kinds}


globals().update(_question.FUNCTIONS)
__all__ = ["Answer", "Column", "Context", "FileError", "InputError", "InternalError", "LimitError", "MissingError",
           "OutOfMemoryError", "PacelineError", "Table", "UsageError", "Warned", "library_path", "warning_kinds", *_question.FUNCTIONS]
