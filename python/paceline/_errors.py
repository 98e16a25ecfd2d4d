"""What can go wrong, by the library's status."""


class PacelineError(Exception):
    """A question without an answer; the message is the library's."""


class UsageError(PacelineError, TypeError):
    """The question itself is wrong: an unknown option, or a value that it does not take."""


class InputError(PacelineError, ValueError):
    """An input is malformed or holds nothing that can answer the question."""


class FileError(PacelineError, OSError):
    """A file could not be opened, read or written."""


class OutOfMemoryError(PacelineError, MemoryError):
    """Memory ran out."""


class LimitError(PacelineError, ValueError):
    """An input exceeds a safety limit: nesting, decompressed size."""


class MissingError(PacelineError, LookupError):
    """The catalogue lacks a name, or this machine lacks a package."""


class InternalError(PacelineError, RuntimeError):
    """An invariant of the library does not hold: a bug."""


# In the order of pace_status.
BY_STATUS = dict(enumerate((UsageError, InputError, FileError, OutOfMemoryError, LimitError, MissingError, InternalError), 1))
