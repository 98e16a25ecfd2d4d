"""Questions: one Python function for each verb of the library, its options those of the library's table."""
import ctypes
import inspect
import keyword
import os
import weakref

from ._answer import Answer
from ._errors import UsageError
from ._library import check, header, lib, table, text

FLAG, TEXT, NUMBER, LIST = range(4)
RENDERS = header.constants["PACE_OPTION_RENDERS"]
PROGRESS = header.type("pace_progress_fn")


class Context:
    """What questions are asked of: the catalogue, opened once and shared by threads. Its methods are the module's functions,
    which ask a context of their own. The environment variable PACELINE_CATALOG is looked at when a context is opened."""

    def __init__(self):
        self._pointer = ctypes.c_void_p()
        check(lib.pace_context_open(ctypes.byref(self._pointer)))
        weakref.finalize(self, lib.pace_context_free, self._pointer)


_shared = []


def shared_context():
    if not _shared:
        _shared.append(Context())
    return _shared[0]


def word(name, value):
    """A value as the words of an option have it."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int, float)):
        raise UsageError(f"{name}: expected text, a number or a path, found {value!r}")
    value = value if isinstance(value, str) else repr(value)
    if "\0" in value:
        raise UsageError(f"{name}: expected text without NUL, found {value!r:.80}")
    return value


def encoded(value):
    """As the library takes it: bytes of a path that are no text stay what they are."""
    return value.encode("utf-8", "surrogateescape")


def words(name, value):
    """One value, several, or pairs."""
    if isinstance(value, dict):
        return [f"{key}={word(name, one)}" for key, one in value.items()]
    return [word(name, one) for one in value] if isinstance(value, (list, tuple)) else [word(name, value)]


class Verb:
    """One verb, and how Python's arguments become a question of it. The library checks what they mean."""

    def __init__(self, row):
        self.name, self.operands, self.summary, self.help = map(text, (row.name, row.operands, row.summary, row.help))
        rows = table(lambda index: lib.pace_option_at(row.name, index))
        self.options = {text(option.name): option for option in rows if option.role != RENDERS}

    def ask(self, inputs, context, progress, options):
        question = ctypes.c_void_p()
        context = context or shared_context()
        check(lib.pace_question_new(ctypes.byref(question), context._pointer, self.name.encode()))
        try:
            self._say(question, inputs, options)
            told = PROGRESS(lambda _, what, done, total: progress(text(what), done, total)) if progress else None
            if told:
                lib.pace_question_set_progress(question, told, None)
            answer = ctypes.c_void_p()
            live = self.name == "validate" and options.get("live")
            ask = lib.pace_validate_live if live else {"calibrate": lib.pace_calibrate, "train": lib.pace_train}.get(self.name, lib.pace_ask)
            check(ask(ctypes.byref(answer), context._pointer, question))
            return Answer(answer) if answer.value else None
        finally:
            lib.pace_question_free(question)

    def _say(self, question, inputs, options):
        said = ["paceline", self.name]
        for item in inputs:
            said.append(word("input", item))
            check(lib.pace_question_add_input(question, encoded(said[-1])))
        for name, value in options.items():
            if value is not None:
                said.append(f"{name}={value}")
                self._set(question, name[:-1] if keyword.iskeyword(name[:-1]) else name, value)
        command = (ctypes.c_char_p * len(said))(*(encoded(item) for item in said))
        check(lib.pace_question_set_command(question, command, len(said)))

    def _set(self, question, name, value):
        type = self.options[name].type if name in self.options else TEXT
        if isinstance(value, bool):
            check(lib.pace_question_set_flag(question, name.encode(), value))
        elif type == NUMBER and isinstance(value, (int, float)):
            most = 10**19  # past what is taken; larger integers are no doubles
            check(lib.pace_question_set_number(question, name.encode(), value if isinstance(value, float) else max(-most, min(value, most))))
        elif type == LIST:
            for item in words(name, value):
                check(lib.pace_question_set(question, name.encode(), encoded(item)))
        else:  # of a text, items stand behind commas
            check(lib.pace_question_set(question, name.encode(), encoded(",".join(words(name, value)))))

    def function(self):
        def ask(*inputs, context=None, progress=None, **options):
            return self.ask(inputs, context, progress, options)

        ask.__name__ = ask.__qualname__ = self.name
        ask.__module__, ask.__doc__, ask.__signature__ = "paceline", self.doc(), self.signature()
        return ask

    def method(self):
        def ask(context, *inputs, progress=None, **options):
            return self.ask(inputs, context, progress, options)

        ask.__name__, ask.__qualname__, ask.__doc__ = self.name, f"Context.{self.name}", self.doc()
        return ask

    def signature(self):
        names = [name + "_" if keyword.iskeyword(name) else name for name in self.options]
        named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in [*names, "progress", "context"]]
        return inspect.Signature([inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL), *named])

    def doc(self):
        lines = [self.summary, "", self.help, "", f"inputs: {self.operands or 'none'}"]
        heading = None
        for name, option in self.options.items():
            if text(option.heading) != heading:
                heading = text(option.heading)
                lines += ["", f"{heading or 'options'}:"]
            kind = ("True", text(option.argument), text(option.unit) or "number", f"[{text(option.argument)}, ...]")[option.type]
            lines.append(f"    {name}={kind}: {text(option.help)}")
        return "\n".join([*lines, "", "    progress=function: called with what is done, how much of it and of how much",
                          "    context=Context: what is asked; None = a context that the module shares"])


VERBS = {verb.name: verb for verb in map(Verb, table(lib.pace_verb_at))}
FUNCTIONS = {name: verb.function() for name, verb in VERBS.items()}
for _name, _verb in VERBS.items():
    setattr(Context, _name, _verb.method())
