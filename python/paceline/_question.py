"""Questions: one Python function for each function of the public headers that answers with a report."""
import ctypes
import inspect
import keyword
import os
import re
import weakref

from ._answer import Answer, closest
from ._errors import UsageError
from ._library import check, header, lib, text

STRINGS = "const char * const *"
# Filled in here, or of no use in Python.
OWN = re.compile(r"(command|command_count|context|processes|stop|size|\w+_context)$")
# Where Python says it as the command line does.
RENAMED = {"characterize": "fleet"}


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


class Context:
    """What questions are asked of: the catalogue, opened once and shared by threads. Its methods are the module's functions,
    which ask a context of their own. The environment variable PACELINE_CATALOG is looked at when a context is opened."""

    def __init__(self):
        pointer = ctypes.c_void_p()
        check(lib.pace_context_open(ctypes.byref(pointer)))
        self._pointer = pointer
        weakref.finalize(self, lib.pace_context_free, pointer)


_shared = []


def shared_context():
    if not _shared:
        _shared.append(Context())
    return _shared[0]


class Held:
    """What a question's structs point at, kept while the library reads it."""

    def __init__(self):
        self.items = []

    def keep(self, item):
        self.items.append(item)
        return item

    def strings(self, words):
        return self.keep((ctypes.c_char_p * max(len(words), 1))(*[word.encode() for word in words]))


def word(name, value):
    """A value as the words of an option have it."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, os.PathLike)):
        raise UsageError(f"{name}: expected text, a number or a path, found {value!r}")
    return repr(value) if isinstance(value, float) else str(os.fspath(value) if isinstance(value, os.PathLike) else value)


def words(name, value):
    """An option that may be given several times: one value, several, or pairs."""
    if isinstance(value, dict):
        return [f"{key}={word(name, one)}" for key, one in value.items()]
    return [word(name, one) for one in value] if isinstance(value, (list, tuple)) else [word(name, value)]


def number(field, value):
    integer = field.type != "double"
    if isinstance(value, bool) or not isinstance(value, int if integer else (int, float)):
        raise UsageError(f"{field.name}: expected {'an integer' if integer else 'a number'}, found {value!r}")
    return value


def choice(field, value):
    """One of an enum, by the last part of its name: "quick" is PACE_EFFORT_QUICK."""
    names = [name.rsplit("_", 1)[1].lower() for name in header.enums[field.type]]
    if value not in names:
        raise UsageError(f"{field.name}: expected {', '.join(names)}, found {value!r}")
    return names.index(value)


def callback(field, value, held):
    """progress(what, done, total)."""
    if not callable(value):
        raise UsageError(f"{field.name}: expected a function, found {value!r}")
    return held.keep(header.type(field.type)(lambda _, *items: value(*(text(i) if isinstance(i, bytes) else i for i in items))))


def converted(field, value, held):
    """A keyword's value as the field of the struct has it."""
    if field.type == "bool":
        if not isinstance(value, bool):
            raise UsageError(f"{field.name}: expected True or False, found {value!r}")
        return value
    if field.type == "const char *":
        return held.keep(word(field.name, value).encode())
    if field.type in ("pace_words", "const pace_words *"):
        given = words(field.name, value)
        made = held.keep(header.type("pace_words")(held.strings(given), len(given)))
        return made if field.type == "pace_words" else ctypes.pointer(made)
    if field.type in header.enums:
        return choice(field, value)
    if field.type in header.callbacks:
        return callback(field, value, held)
    return number(field, value)


class Question:
    """One function of the header, and how Python's arguments become its own."""

    def __init__(self, function):
        self.function, self.name = function, RENAMED.get(function.name[5:], function.name[5:])
        self.several = self.options = None
        self.single, self.fields = [], {}  # keywords: the struct's field, and the structs around it
        for parameter in function.parameters:
            struct = parameter.type[len("const "):-len(" *")]
            if parameter.type == STRINGS:
                self.several = parameter.name
            elif parameter.type == "const char *":
                self.single.append(parameter.name)
            elif parameter.type == "const pace_words *":
                self.fields[parameter.name] = parameter, ()
            elif struct in header.structs:
                self.options = struct
                self._add(header.structs[struct], ())
        self.optional = not self.options  # an operand of machines or models may be left out

    def _add(self, fields, inside):
        """Fields of a struct inside the options are keywords too, unless the options have one of that name."""
        for field in fields:
            name = python_name(field.name)
            if field.type in header.structs and field.type != "pace_words":
                self._add(header.structs[field.type], (*inside, field.name))
            elif not OWN.match(field.name) and field.type != "pace_write_fn" and not (inside and name in self.fields):
                self.fields[name] = field, inside

    def signature(self):
        positional = [inspect.Parameter(self.several, inspect.Parameter.VAR_POSITIONAL)] if self.several else [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                              default=None if self.optional else inspect.Parameter.empty) for name in self.single]
        named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in [*self.fields, "context"]]
        return inspect.Signature(positional + named)

    def doc(self):
        lines = [self.function.doc, "", "Options:"]
        lines += [f"    {name}: {field.doc or field.name.replace('_', ' ')}" for name, (field, _) in self.fields.items()]
        return "\n".join(lines + ["    context: the Context that is asked; None = one that the module shares"])

    def ask(self, *operands, context=None, **keywords):
        held, given = Held(), {name: value for name, value in keywords.items() if value is not None}
        operands = self._operands(operands, given)
        for name in given:
            if name not in self.fields:
                raise UsageError(f"{self.name} has no option {name}{closest(name, self.fields)}")
        context = context or shared_context()
        report, extra, arguments = ctypes.c_void_p(), {}, []
        for parameter in self.function.parameters:
            arguments.append(self._argument(parameter, operands, given, held, context, report, extra))
        lengths = [i for i, p in enumerate(self.function.parameters) if p.type == STRINGS]
        for index in lengths:
            arguments[index + 1] = len(operands)
        check(getattr(lib, self.function.name)(*arguments))
        if not report.value:
            return None
        answer = Answer(report, context)
        for name, value in extra.items():
            setattr(answer, name, value.value)
        return answer

    def _operands(self, operands, given):
        if self.several:
            return [word(self.several, operand) for operand in operands]
        names = self.single[len(operands):]
        operands = [*operands, *(given.pop(name) for name in names if name in given)]
        least = 0 if self.optional else len(self.single)
        if not least <= len(operands) <= len(self.single):
            raise UsageError(f"{self.name} takes {' and '.join(self.single) or 'options only'}, found {len(operands)} of them")
        return [word(name, operand) for name, operand in zip(self.single, operands)]

    def _argument(self, parameter, operands, given, held, context, report, extra):
        if parameter.type == "pace_report * *":
            return ctypes.byref(report)
        if parameter.type == "pace_context *":
            return context._pointer
        if parameter.type == STRINGS:
            return held.strings(operands)
        if parameter.type == "const char *":
            place = self.single.index(parameter.name)
            return operands[place].encode() if place < len(operands) else None
        if parameter.type == "const pace_words *":
            return converted(parameter, given[parameter.name], held) if parameter.name in given else None
        if parameter.type == "size_t *":
            extra[parameter.name] = ctypes.c_size_t()
            return ctypes.byref(extra[parameter.name])
        return ctypes.byref(self._struct(operands, given, held, context)) if self.options in parameter.type else 0

    def _struct(self, operands, given, held, context):
        options = held.keep(header.type(self.options)())
        declared = {field.name for field in header.structs[self.options]}
        said = ["paceline", self.name, *operands, *(f"{name}={value!r}" for name, value in given.items() if not callable(value))]
        if "command" in declared:
            options.command, options.command_count = held.strings(said), len(said)
        if "context" in declared:
            options.context = context._pointer
        if "size" in declared:
            options.size = ctypes.sizeof(options)
        for name, value in given.items():
            (field, inside), target = self.fields[name], options
            for outer in inside:
                target = getattr(target, outer)
            setattr(target, field.name, converted(field, value, held))
        return options


def questions():
    """Every question by its name in Python."""
    found = {}
    for function in header.functions.values():
        types = [parameter.type for parameter in function.parameters]
        asks = types[:1] == ["pace_report * *"] or types == ["const pace_synthesize_options *"]
        if asks and function.name != "pace_calibration_report":
            question = Question(function)
            found[question.name] = question
    return found


def as_function(question):
    def ask(*operands, **options):
        return question.ask(*operands, **options)

    ask.__name__ = ask.__qualname__ = question.name
    ask.__module__ = "paceline"
    ask.__doc__ = question.doc()
    ask.__signature__ = question.signature()
    return ask


def as_method(name, function):
    def ask(self, *operands, **options):
        return function(*operands, context=self, **options)

    ask.__name__, ask.__qualname__, ask.__doc__ = name, f"Context.{name}", function.__doc__
    return ask


FUNCTIONS = {name: as_function(question) for name, question in questions().items()}
for _name, _function in FUNCTIONS.items():
    setattr(Context, _name, as_method(_name, _function))
