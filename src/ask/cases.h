/* The cases of accuracy/cases.yaml: which rows of which tables are held out, and how well they must be predicted. */
#ifndef PACE_ASK_CASES_H
#define PACE_ASK_CASES_H

#include "base/yaml.h"

enum { PACE_CASE_FILES = 4, PACE_CASE_BARS = 6 };

/* "<=0.04", ">=0.9" or "0.85..0.95": what a figure must be. */
typedef struct {
    char metric[16]; /* gmae, geomean, mape, signed_mean, max, coverage */
    char text[24];
    double least, most;
} pace_bar;

typedef struct {
    const char *name, *note, *source; /* borrowed from the YAML; note and source may be NULL */
    const char *files[PACE_CASE_FILES];
    unsigned file_count;
    const pace_yaml_node *where;      /* column: words; only rows whose cell starts with one of them count */
    const pace_yaml_node *test_where; /* the same: these rows are held out, all others are fitted */
    const char *by;                   /* groups held out together, see pace_fit_rows_options */
    double test_share;                /* of the groups; 0 = not this way */
    unsigned folds;                   /* each group is held out once; 0 = not this way */
    double beyond;      /* rows with more work than this quantile of their kind are held out; 0 = not this way */
    const char *errors; /* the column of predictions' errors in per cent, to be summed up as they are; NULL = none */
    const char *kind;   /* NULL = kernel; step */
    const char *on;     /* step: the machine of rows that name none; NULL = they all do */
    bool fit;           /* false: the formulas answer, nothing is fitted */
    pace_bar bars[PACE_CASE_BARS];
    unsigned bar_count;
} pace_case;

typedef struct {
    pace_yaml *yaml;
    PACE_VEC(pace_case) items;
} pace_cases;

/** Errors: PACE_E_IO, PACE_E_INPUT with file:line:column. */
pace_status pace_cases_load(pace_cases *out, const char *path) PACE_MUST_CHECK;
void pace_cases_free(pace_cases *cases);

/** Parses a bar. */
bool pace_bar_parse(pace_bar *out, const char *metric, const char *text);
bool pace_bar_holds(const pace_bar *bar, double value);

#endif
