/*
 * The cases of accuracy/cases.yaml: which rows of which tables are held out, what the others are used for, and how well
 * those held out must be predicted. The head of that file describes the members.
 */
#pragma once

#include "machine/catalog.h"

enum { PACE_CASE_FILES = 4, PACE_CASE_BARS = 6 };

/* "<=0.04", ">=0.9" or "0.85..0.95": what a figure must be. */
typedef struct {
    char metric[24];
    char text[24];
    double least, most;
} pace_bar;

typedef struct {
    const char *name, *note; /* borrowed from the YAML, as all texts and nodes are; NULL: not said */
    const char *kind;        /* a row kind; NULL = "kernel" */
    const char *part;        /* "test" (NULL), "validation" or "train": what the rows were to whoever made the model */
    const char *source;      /* what the ledger calls its data; NULL = the first file */
    const char *unit;        /* of its figures; NULL = "share" */
    const char *files[PACE_CASE_FILES]; /* in the folder of data; "../PATH": beside the file of cases */
    const char *beside;                 /* the folder that holds the file of cases; NULL = none: it is compiled in */
    bool names_beside;                  /* its questions name files there */
    unsigned file_count;
    const pace_yaml_node *needs; /* what else must be in the folder of data, a file or a list of them; NULL = nothing */

    /* What a table becomes before its kind reads it. */
    const pace_yaml_node *rows;    /* {COLUMN: WORDS}: rows that stay; NULL = all */
    const pace_yaml_node *columns; /* {COLUMN: where its cells come from}; NULL = as they are */
    bool only_columns;             /* no other column stays */
    unsigned every;                /* every so many-th of these rows stays; 0 and 1: each */
    const char *apart;             /* "COLUMN|COLUMN": groups of rows that know nothing of each other; NULL = one */
    const pace_yaml_node *on_by;   /* {GROUP: MACHINE} of these; NULL = `on` */
    const char *group;             /* the group that is looked at; NULL = all; set by pace_validate_case() */

    /* What the question says besides its tables. */
    const char *on, *collective; /* NULL: not said */
    const char *fit_split;       /* what the fit itself holds out */
    int probes;                  /* sizes of a curve that an exchange's fit is scored from; 0 = as usual */
    bool fit;                    /* false: the formulas answer, nothing is fitted */

    const pace_yaml_node *where;      /* {COLUMN: WORDS}: only such rows count */
    const pace_yaml_node *test_where; /* such rows are held out, all others are fitted */
    const pace_yaml_node *fit_where;  /* of these others, only such rows are fitted */
    const char *by;                   /* groups held out together, see pace_row_kind.group */
    double test_share;                /* of the groups; 0 = not this way */
    unsigned folds;                   /* each group is held out once; 0 = not this way */
    double beyond; /* rows with more work than this quantile of their kind are held out; 0 = not this way */
    const pace_yaml_node *near;    /* {COLUMN: [SIZE]}: the row nearest to each size is fitted, all others held out */
    const char *each;              /* rows with one word in this column are held out in turn */
    const char *from;              /* rows with one word in this column are fitted in turn, all others held out */
    const char *orders;            /* columns: the order of rows alike in these counts */
    double order_gap;              /* pairs measured further apart than this share count */
    bool of_rates;                 /* errors are of rates, not of times */
    const char *answer, *measured; /* an answer's column held against one of the table; NULL = times */
    double measured_in;            /* how many of the answer's units are one of the table's */

    /* Figures that are not of rows: of a table of what the fit finds, its rows that count. */
    const char *found;
    const pace_yaml_node *found_where;
    const char *errors; /* the column of predictions' errors in per cent, to be summed up as they are; NULL = none */

    /* A question of any verb for each row of the table, and what of its answer is held against what. */
    const pace_yaml_node *over; /* {COLUMN: [CELL]}: without files, the table is all combinations; NULL = one row */
    const pace_yaml_node *ask;  /* {verb, inputs, FIELD: text}; "{COLUMN}" stands for the row's cell */
    const pace_yaml_node
        *against;                 /* a second question, whose answer the expected figures are read from; NULL = `ask` */
    const pace_yaml_node *before; /* a question asked once, whose file the others name; NULL = none */
    const pace_yaml_node *values; /* {FIGURE: EXPECTED}: expressions of values of the answers */
    const char *low, *high;       /* the interval that should hold what is expected: expressions; NULL = none */
    const char *within;           /* else: how far off a figure may be: an expression; NULL = 0 */
    bool optional;                /* a figure that the answer does not have is left out */

    const pace_yaml_node *pools; /* [PATTERN]: the rows of the cases so named, each a group; NULL = rows of its own */

    pace_bar bars[PACE_CASE_BARS];
    unsigned bar_count;
} pace_case;

typedef struct {
    pace_yaml *yaml;
    char *folder; /* that holds the file; NULL = it is compiled in */
    PACE_VEC(pace_case) items;
} pace_cases;

/** The file of cases that is compiled in; the last has name NULL. */
extern const pace_catalog_file pace_case_files[];

/** `path` NULL: "accuracy/cases.yaml" if it is there, as in a source tree, else the file that is compiled in, beside
 * which nothing lies. Errors: PACE_E_IO, PACE_E_INPUT with file:line:column. */
pace_status pace_cases_load(pace_cases *out, const char *path) PACE_MUST_CHECK;
void pace_cases_free(pace_cases *cases);

/** The path of a case's file; `folder` is that of the data. PACE_E_INPUT when it is too long. */
pace_status pace_case_path(char *out, size_t size, const pace_case *one, const char *folder,
                           unsigned file) PACE_MUST_CHECK;

/** Parses a bar. */
bool pace_bar_parse(pace_bar *out, const char *metric, const char *text);
bool pace_bar_holds(const pace_bar *bar, double value);
