/*
 * A row kind: what rows of a table ask about, as data. `predict --rows`, `fit`, `validate` and the guess of a table's
 * kind run over such tables of functions and know no kind by name. To add one: a file with its pace_row_kind, and a row
 * in row_kinds.c.
 *
 * A kind's state holds everything between open() and close(): what it was asked under, the tables it has read, and the
 * fit it has loaded or learned. Tables are numbered in the order of read(), questions within one from 0. A row of a
 * table may be several questions (one per measured column).
 */
#pragma once

#include "ask/engine_options.h"
#include "ask/rows/columns.h"
#include "ask/findings.h"
#include "base/estimate.h"
#include "plan/step_engine.h"
#include "paceline/paceline.h"

enum { PACE_ROW_CELLS = 8 };

/* One table that was read. Everything is borrowed. */
typedef struct {
    const pace_csv *csv; /* columns 0, or NULL: not a table whose rows can be given back */
    const char *name;
    uint64_t bytes; /* as stored */
    size_t questions;
    bool several; /* a row may be several questions */
} pace_row_table;

typedef struct {
    uint32_t row;      /* of the table */
    double measured_s; /* NAN: not measured, or it cannot be asked */
} pace_row_question;

typedef struct {
    bool known;
    pace_estimate time_s;
    double values[3];          /* median, low, high in `unit`; a rate's low end is the longest time */
    const char *unit;          /* borrowed from the state */
    const char *asked;         /* the measured column that asked, where a row is several questions; borrowed */
    pace_step_fitting fitting; /* of what a row runs into memory */
    pace_step_room room;
    bool batch_assumed;                    /* the row does not say it */
    bool unfitted;                         /* there is a fit, and it does not answer this row */
    char beyond[64];                       /* what of it lies outside the fit that answers it, in words; "" = nothing */
    char status[400];                      /* "ok", what was assumed, or why there is no answer */
    pace_found_cell cells[PACE_ROW_CELLS]; /* of `columns`; texts are borrowed */
} pace_row_answer;

/* Files that were read whole, as tables without rows to give back; their names are owned. */
typedef PACE_VEC(pace_row_table) pace_row_files;

/* Which questions a fit may see; NULL = all. */
typedef bool (*pace_row_keep)(void *context, size_t table, size_t question);

typedef struct {
    const char *name;           /* as --kind says it */
    const char *title;          /* of a fit's report; NULL: "Fit" */
    const pace_column *columns; /* of an answer, besides time and status */
    size_t column_count, columns_before_status;

    /** How firmly a table's columns and first row speak for this kind, 0 = not at all; the firmest claim of all kinds
     * wins. NULL: nobody can tell. */
    int (*claims)(const pace_columns *columns, const pace_csv *csv);
    /** Whether the start of a file that is no table speaks for this kind; NULL: it never does. */
    bool (*is_log)(const char *head);

    /** Fills a state of `size` zero bytes; `options` are borrowed until close(), which frees what it owns, also when
     * open() failed. */
    size_t size;
    pace_status (*open)(void *state, const pace_rows_options *options);
    void (*close)(void *state);

    /** Before read(), which may take defaults from the fit. NULL: the kind has no fit. */
    pace_status (*load)(void *state, const char *path);
    pace_status (*read)(void *state, pace_input *input);
    pace_row_table (*table)(const void *state, size_t table);

    /** NULL: the kind's rows can be fitted but not predicted. An answer is valid until the next. */
    void (*question)(pace_row_question *out, const void *state, size_t table, size_t question);
    void (*answer)(pace_row_answer *out, void *state, size_t table, size_t question);
    /** What would make a question fit whose answer does not, as a sentence; NULL: nobody can tell. */
    pace_status (*advise)(char *out, size_t size, void *state, size_t table, size_t question);
    /** What a reader of all answers must know; NULL: nothing. */
    pace_status (*remark)(pace_findings *out, const void *state);

    /** The number of the group in which a question is held out under `by`; NULL: the hash of the cells of its columns,
     * pace_row_group(). */
    pace_status (*group)(uint64_t *out, const void *state, size_t table, size_t question, const char *by);
    /** The work of a question and the class that it is compared within; NULL: no such thing. */
    double (*work)(const char **class_name, const void *state, size_t table, size_t question);

    /** Fits the questions that `keep` keeps; answers come from the fit from then on. */
    pace_status (*learn)(void *state, pace_row_keep keep, void *context);
    pace_status (*save)(const void *state, const char *path);
    /** What the fit found and how well it predicts rows that it did not see. */
    pace_status (*describe)(pace_findings *out, const void *state);
} pace_row_kind;

/* The kinds there are, in the order in which they claim tables; the first takes what nobody claims. */
typedef struct {
    const pace_row_kind *const *items;
    size_t count;
} pace_row_kinds;

/** The kind of this name; PACE_E_USAGE naming those there are: of rows that can be predicted, or that can be fitted. */
pace_status pace_row_kind_find(const pace_row_kind **out, const pace_row_kinds *kinds, const char *name,
                               bool predicted) PACE_MUST_CHECK;

/** Which kind a file is of, by the columns and first row of a table, or by what a log looks like: the first kind for
 * what looks like nothing else. Only the start of the file is read; a
 * file that cannot be read is left to its reader to complain about. */
const pace_row_kind *pace_row_kind_of_file(const pace_row_kinds *kinds, pace_catalog *catalog, const char *path);

/** A state of the kind, opened; *state is to be closed after a failure, too. */
pace_status pace_row_kind_open(void **state, const pace_row_kind *kind,
                               const pace_rows_options *options) PACE_MUST_CHECK;
void pace_row_kind_close(const pace_row_kind *kind, void *state);

/** Opens and reads the file `path` as the next table of a state. */
pace_status pace_row_kind_read_file(const pace_row_kind *kind, void *state, const char *path) PACE_MUST_CHECK;

/** Notes a file that was read; frees such a list. */
pace_status pace_row_files_add(pace_row_files *files, pace_input *input) PACE_MUST_CHECK;
void pace_row_files_free(pace_row_files *files);

/** The hash of the cells of the columns in `by` ("tp,pp"), its bits spread so that a share or a remainder of groups is
 * even; 53 bits. PACE_E_INPUT for a column that is not there. */
pace_status pace_row_group(uint64_t *out, const pace_csv *csv, size_t row, const char *by) PACE_MUST_CHECK;
uint64_t pace_row_spread_bits(uint64_t x);

/** Adds to the status why a measured cell was refused; "" = none was. */
void pace_row_say_unmeasured(pace_row_answer *answer, const char *why);

/** Adds to the status which columns say something that changes nothing in the answer; "" in `columns` = none. */
void pace_row_say_unused(pace_row_answer *answer, const char *const *columns, size_t count);
/** Whether the status of an answered row names cells that change nothing. */
bool pace_row_says_unused(const pace_row_answer *answer);
/** Whether a cell names no device of `device`'s family (names of devices begin with it, "h100-80-sxm"), or one with
 * figures of its own. */
bool pace_row_names_other(const char *cell, const char *device);

/** Fills `values` with a time in units of `unit_s`. */
void pace_row_answer_time(pace_row_answer *answer, double unit_s);
