/*
 * Paceline: where the time of a training step goes, and what to change first.
 *
 * The public C API: open a context, word a question, ask it, and read values and tables from the answer or write it in
 * any format. docs/api.md has examples.
 *
 * Conventions. Every function that can fail returns a pace_status; the text of the last failure on this
 * thread is pace_message(). Out-pointers come first, are owned by the caller and written only on success.
 * The library never prints, exits, or changes locale, signals or directory.
 */
#ifndef PACELINE_H
#define PACELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PACE_API __attribute__((visibility("default")))
#else
#define PACE_API
#endif

/** What became of a call. */
typedef enum {
    PACE_OK = 0,
    PACE_E_USAGE,    /**< the question itself is wrong (an unknown option value, a bad regular expression) */
    PACE_E_INPUT,    /**< an input is malformed or holds nothing that can answer the question */
    PACE_E_IO,       /**< a file could not be opened, read or written */
    PACE_E_MEMORY,   /**< out of memory */
    PACE_E_LIMIT,    /**< an input exceeds a safety limit (nesting, decompressed size, …) */
    PACE_E_MISSING,  /**< this build or machine lacks something (a catalogue entry, a package) */
    PACE_E_INTERNAL, /**< an invariant of the library does not hold: a bug */
    PACE_E_STOPPED,  /**< stopped before anything was found */
    PACE_E_NO_FIT,   /**< what was asked to run does not fit the memory that is here */
} pace_status;

/** The text of this thread's last failure: file, place, expected, found. Never NULL; borrowed, valid until
 * the next failing call on this thread. */
PACE_API const char *pace_message(void);

/** The library's version, "MAJOR.MINOR.PATCH". */
PACE_API const char *pace_version(void);

/** Edits (letters changed, dropped or added; upper and lower case alike) that make one word of the other: whoever has
 * the fewest is what was meant. Past 63 letters words are cut. Wagner and Fischer, 1974. */
PACE_API size_t pace_word_edits(const char *a, const char *b);

/** What questions are asked of: the catalogue of machines, devices and models. Open it once and keep it: what was
 * read of the catalogue stays read. Several threads may ask of one context at a time. */
typedef struct pace_context pace_context;

/** Opens the catalogue that is compiled in, or the directory that the environment variable PACELINE_CATALOG names now:
 * files that are there take the place of those compiled in. Errors: PACE_E_MEMORY. */
PACE_API pace_status pace_context_open(pace_context **out);

/** Whatever was asked of it must be done. NULL is allowed. */
PACE_API void pace_context_free(pace_context *context);

/** Whether a file of this name in a directory is read as a trace: "rank0.json.gz", "rank0.et", … */
PACE_API bool pace_is_trace_name(const char *name);

/** Called now and then during long work. `done` and `total` are in bytes of input; total 0 = unknown. */
typedef void (*pace_progress_fn)(void *context, const char *what, uint64_t done, uint64_t total);

/* --- what can be asked -------------------------------------------------------------------------------------------- */

/** A verb: one kind of question. Static. */
typedef struct {
    const char *name;     /**< "analyze" */
    const char *operands; /**< what its inputs are: "TRACE..."; "" = none */
    const char *summary;  /**< one sentence */
    const char *help;     /**< what it does, in lines of at most 100 characters */
} pace_verb;

/** The verbs, in the order in which help lists them; NULL past the last. */
PACE_API const pace_verb *pace_verb_at(size_t index);

typedef enum {
    PACE_OPTION_FLAG,   /**< said or not */
    PACE_OPTION_TEXT,   /**< one text */
    PACE_OPTION_NUMBER, /**< one number */
    PACE_OPTION_LIST,   /**< texts; each time it is set adds one */
} pace_option_type;

/** What an option is about. */
typedef enum {
    PACE_OPTION_ASKS,    /**< a field of the question */
    PACE_OPTION_WRITES,  /**< a field of the question: a file that asking it writes */
    PACE_OPTION_RENDERS, /**< how a command line shows the answer; no field of a question */
} pace_option_role;

/** An option of a verb: a field of its questions. Static. */
typedef struct {
    const char *name; /**< words joined by underscores: "drop_overhead" */
    char letter;      /**< of command lines: 'o' for -o; 0 = none */
    pace_option_type type;
    pace_option_role role;
    const char *argument; /**< what a value looks like: "REGEX:FACTOR"; NULL of a flag */
    const char *unit;     /**< of a number: "samples", "bytes"; NULL = a plain count or share, or no number */
    const char *heading;  /**< the group it is of: "what if"; NULL = none */
    const char *help;     /**< one line */
    const char *column;   /**< the column of a table of questions that says the same; NULL = none */
    const char
        *kinds; /**< of predict, fit and fleet: the kinds of questions that take it, " step rows.job "; NULL = all */
} pace_option;

/** The options of a verb, in the order in which help lists them; NULL past the last and for an unknown verb. */
PACE_API const pace_option *pace_option_at(const char *verb, size_t index);

/** The index-th word that an option's value may be; NULL past the last. Some options take other values too; those that
 * take names of the catalogue list nothing without a context. Borrowed from the context. */
PACE_API const char *pace_option_word(pace_context *context, const char *verb, const char *option, size_t index);

/** The index of a text among these words, without those of the catalogue. Errors: PACE_E_USAGE, naming the words. */
PACE_API pace_status pace_option_word_find(size_t *out, const char *verb, const char *option, const char *text);

/* --- questions ---------------------------------------------------------------------------------------------------- */

/** A question: a verb, inputs and fields. Everything it is given is copied. Ask it as often as you like; not of
 * several threads at a time while it is changed. */
typedef struct pace_question pace_question;

/** An empty question of a verb. Errors: PACE_E_USAGE for an unknown verb (the message names the closest),
 * PACE_E_MEMORY. */
PACE_API pace_status pace_question_new(pace_question **out, pace_context *context, const char *verb);
PACE_API void pace_question_free(pace_question *question);

/** Sets a field from text, whatever its type: a flag from "true" or "false", a number from its digits, a list by one
 * more item. Hyphens in the name count as underscores. Errors: PACE_E_USAGE for a field that the verb does not have
 * (the message names the closest) and for a text that is no value of its type; PACE_E_LIMIT past 64 items. */
PACE_API pace_status pace_question_set(pace_question *question, const char *field, const char *text);
PACE_API pace_status pace_question_set_number(pace_question *question, const char *field, double value);
PACE_API pace_status pace_question_set_flag(pace_question *question, const char *field, bool value);

/** Adds an input: a file, a directory, a glob, "-", or a name of the catalogue, as the verb takes them. */
PACE_API pace_status pace_question_add_input(pace_question *question, const char *input);

/** The words that the answer gives as its "command". */
PACE_API pace_status pace_question_set_command(pace_question *question, const char *const *words, size_t count);

/** Called while the question is answered; `context` must outlive that. */
PACE_API void pace_question_set_progress(pace_question *question, pace_progress_fn progress, void *context);

/** calibrate, train, plan: asked between points, steps or configurations; true ends them, what was measured or found
 * stays. */
PACE_API void pace_question_set_stop(pace_question *question, bool (*stop)(void *context), void *context);

/** The verb and the fields of a question: the text of a text field, NULL where it was not set; the number of a number
 * field, 0 where it was not set; whether a field was set. Borrowed. */
PACE_API const char *pace_question_verb(const pace_question *question);
PACE_API const char *pace_question_text(const pace_question *question, const char *field);
PACE_API double pace_question_number(const pace_question *question, const char *field);
PACE_API bool pace_question_has(const pace_question *question, const char *field);
/** The index-th text of a list; NULL past the last. Borrowed. */
PACE_API const char *pace_question_item(const pace_question *question, const char *field, size_t index);
PACE_API size_t pace_question_input_count(const pace_question *question);
/** NULL past the last. */
PACE_API const char *pace_question_input(const pace_question *question, size_t index);
PACE_API const char *const *pace_question_command(const pace_question *question, size_t *count);
/** For what answers a question outside of the library: tells of progress, asks whether to stop. */
PACE_API void pace_question_progress(const pace_question *question, const char *what, uint64_t done, uint64_t total);
PACE_API bool pace_question_stopped(const pace_question *question);

/** Processes that share the work of one question, as mpirun starts them. */
typedef struct pace_processes pace_processes;
/** Given each process's bytes; anything but 0 is a failure. */
typedef int (*pace_gathered_fn)(void *context, int rank, const void *bytes, size_t length);
enum { PACE_PROCESSES_VERSION = 2 };
struct pace_processes {
    int version, rank, count;
    /** Called by all: process 0 is given everybody's bytes, its own first, then by rank; returns its first failure. */
    int (*gather)(const pace_processes *processes, const void *bytes, size_t length, pace_gathered_fn take,
                  void *context);
    /** Called by all: process r is given what each process has in bytes[r], by rank; returns the first failure. */
    int (*exchange)(const pace_processes *processes, const void *const *bytes, const size_t *lengths,
                    pace_gathered_fn take, void *context);
    void (*close)(const pace_processes *processes);
};

/** fleet, analyze: each process reads some of the files; train: each is a rank; plan: process 0 searches alone. Only
 * process 0 gets an answer; the others get NULL. `processes` must outlive the question. */
PACE_API void pace_question_set_processes(pace_question *question, const pace_processes *processes);

/** As they were set; NULL for one process. */
PACE_API const pace_processes *pace_question_processes(const pace_question *question);

/** The text of this thread's last failure with every field that it names written as an option of a command line:
 * "--drop-overhead: expected ..." for a question of `verb`. Cut to `size` with its end; returns `out`. */
PACE_API const char *pace_message_as_options(char *out, size_t size, const char *verb);

/** The field that this thread's last failure is about: its name when pace_message() begins with one ("batch: expected
 * ..."), else "". Static. */
PACE_API const char *pace_message_field(void);

/* --- answers ------------------------------------------------------------------------------------------------------ */

/** An answer: values, tables, sentences and warnings. It never changes: threads may read it together. It needs neither
 * question nor context any more. */
typedef struct pace_answer pace_answer;

/** Answers a question. Errors: PACE_E_USAGE for a field that has no effect on the question, one that is missing or
 * cannot be; PACE_E_INPUT, PACE_E_IO and PACE_E_LIMIT for inputs; PACE_E_MISSING for names that the catalogue does not
 * know, and for what this build or machine lacks; PACE_E_MEMORY; PACE_E_INTERNAL when a self-check fails. */
PACE_API pace_status pace_ask(pace_answer **out, pace_context *context, const pace_question *question);
PACE_API void pace_answer_free(pace_answer *answer);

/** False when the answer is "no": a bar of validate is missed. */
PACE_API bool pace_answer_holds(const pace_answer *answer);

typedef enum {
    PACE_VALUE_REAL,
    PACE_VALUE_INT,
    PACE_VALUE_TEXT,
    PACE_VALUE_BOOL, /**< in `integer` */
    PACE_VALUE_NONE, /**< null: not known */
} pace_value_type;

/** One value of an answer. Everything is borrowed from the answer. */
typedef struct {
    const char *path; /**< keys as in JSON, joined by points: "inputs.0.path" is "inputs.0.path"; unit in the key */
    pace_value_type type;
    double real; /**< of a real or an int */
    int64_t integer;
    const char *text; /**< of a text, else NULL */
} pace_value;

/** All values outside of tables, in the order of the JSON document: pace_answer_value_at() of an index below the
 * count. */
PACE_API size_t pace_answer_value_count(const pace_answer *answer);
PACE_API pace_value pace_answer_value_at(const pace_answer *answer, size_t index);

/** The number at a path, in full precision; a path of "values" may leave that word out: "step.median_s". Errors:
 * PACE_E_MISSING when there is none (the message names the closest), PACE_E_USAGE when it is no number. */
PACE_API pace_status pace_answer_value(const pace_answer *answer, const char *path, double *out);

/** The text at a path, borrowed; NULL when there is none. */
PACE_API const char *pace_answer_text(const pace_answer *answer, const char *path);

/** A column of a table. `reals`, `integers` and `texts` hold `length` cells each, of the type of the column alone, the
 * others are NULL; `integers` of a real column is NULL too. A cell that is not known is NAN, INT64_MIN or NULL.
 * Borrowed from the answer. */
typedef struct {
    const char *name;     /**< as in JSON and CSV, unit included */
    const char *title;    /**< for people; NULL = not shown to them */
    pace_value_type type; /**< real, int or text */
    size_t length;
    const double *reals;
    const int64_t *integers;
    const char *const *texts;
} pace_answer_column;

/** A table of an answer. Borrowed from it. */
typedef struct {
    const char *path;  /**< "critical_path.top" */
    const char *title; /**< for people; may be NULL */
    size_t rows;
    size_t column_count;
    const pace_answer_column *columns;
} pace_answer_table;

/** The tables, in the order of the document; NULL past the last. The first is the main one. */
PACE_API const pace_answer_table *pace_answer_table_at(const pace_answer *answer, size_t index);
/** A table by its path, or by the last key of it where one table has that; NULL when there is none. */
PACE_API const pace_answer_table *pace_answer_table_find(const pace_answer *answer, const char *path);

/** What must be known beside the answer: damage and doubt. Borrowed. */
typedef struct {
    const char *code;  /**< stable, for programs: "rows_unanswered"; those of pace_warning_kind_at() */
    const char *text;  /**< a sentence for people */
    const char *place; /**< the file, row, case or what-if that it is about; NULL = the answer as a whole */
    bool strict;       /**< it casts doubt on the answer: --strict makes a failure of it */
} pace_warning;

/** A code that warnings may have. Static. */
typedef struct {
    const char *code;
    const char *means; /**< one sentence */
    bool strict;
} pace_warning_kind;

/** The codes there are; NULL past the last. docs/warnings.md lists them. */
PACE_API const pace_warning_kind *pace_warning_kind_at(size_t index);

PACE_API size_t pace_answer_warning_count(const pace_answer *answer);
PACE_API pace_warning pace_answer_warning(const pace_answer *answer, size_t index);

/** A file that was read. Borrowed. */
typedef struct {
    const char *path;
    uint64_t bytes; /**< as stored */
} pace_answer_input;

PACE_API size_t pace_answer_input_count(const pace_answer *answer);
PACE_API pace_answer_input pace_answer_input_at(const pace_answer *answer, size_t index);

typedef enum {
    PACE_FORMAT_TABLE,
    PACE_FORMAT_JSON,
    PACE_FORMAT_CSV,
    PACE_FORMAT_HTML,
    PACE_FORMAT_PERFETTO,
    PACE_FORMAT_JUNIT,         /**< checks, as continuous integration reads them */
    PACE_FORMAT_FOLDED,        /**< host time by call stack: a line "frame;frame;frame NS" each */
    PACE_FORMAT_FOLDED_DEVICE, /**< device time by the call stack that launched it, the same */
} pace_format;

/** Where rendered bytes go: returns 0, or an errno value when the bytes could not be written. */
typedef int (*pace_write_fn)(void *context, const void *bytes, size_t length);

/** How an answer is rendered. Zero-initialise for defaults, then set `size`. */
typedef struct {
    size_t size; /**< sizeof(pace_write_options): later versions add members at the end */
    /** CSV: the one table to write, by its path as in JSON ("critical_path.top", "step_matrices.0.matrix"); the last
     * key alone will do where one table has it. NULL = the answer's main table */
    const char *table;
    bool color; /**< table: use ANSI colour */
    int width;  /**< table: columns available; 0 = 100 */
    bool gzip;  /**< compress what is written */
    bool zstd;  /**< the same, with zstd */
} pace_write_options;

/** Renders an answer; `options` may be NULL. Errors: PACE_E_IO when `write` fails, PACE_E_USAGE for an unknown table
 * path (the message lists those there are) or a format this answer cannot take. */
PACE_API pace_status pace_answer_write(const pace_answer *answer, pace_format format, const pace_write_options *options,
                                       pace_write_fn write, void *context);

/** Renders an answer into a file, which appears whole or not at all: it is written beside its place and renamed,
 * through a symbolic link and with the old file's mode; a pipe or a device is written to. Errors: those of
 * pace_answer_write(), PACE_E_IO with path and reason. */
PACE_API pace_status pace_answer_save(const pace_answer *answer, pace_format format, const pace_write_options *options,
                                      const char *path);

/** Removes files that this process is writing and has not finished, and its folders of scratch; ends the program that
 * it has started and waits for. For signal handlers. */
PACE_API void pace_remove_unfinished(void);

#ifdef __cplusplus
}
#endif

#endif
