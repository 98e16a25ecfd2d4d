/*
 * Which columns of a table mean what, by their names (catalog/columns.yaml): what a kernel's row asks, and which
 * of its columns were measured.
 */
#pragma once

#include "machine/catalog.h"
#include "ask/rows/compound_op.h"
#include "base/csv.h"
#include "base/text.h"
#include "base/yaml_member.h"

#include <math.h>

enum {
    PACE_COLUMN_FACTORS = 4,
    PACE_COLUMN_CHOICES = 5,
    PACE_SHAPE_COLUMNS = 6,
    PACE_MEASURED_MOST = 8,
    PACE_LAYOUTS_MOST = 24
};

/* The product of some columns, or their sum, times a scale. */
typedef struct {
    int column[PACE_COLUMN_FACTORS];
    unsigned count;
    bool sum;
    double scale;
} pace_size_source;

/* Where a size comes from: the first source whose cells are all filled in, or a default. */
typedef struct {
    pace_size_source from[PACE_COLUMN_CHOICES];
    unsigned count;
    double fallback; /* NAN = the size must be there */
} pace_size_column;

/* What one family, or one compound operation, needs, found in one table. */
typedef struct {
    pace_op_family family;
    pace_compound compound;
    const char *const *names;
    unsigned count;
    pace_size_column size[PACE_OP_SIZES];
    bool by_op;    /* only where the row names the operation */
    bool in_bytes; /* the first size is told in bytes and means elements */
    int missing;   /* the first size that no column gives; -1 = complete */
} pace_layout;

typedef enum { PACE_MEASURED_TIME, PACE_MEASURED_FLOP_RATE, PACE_MEASURED_BYTE_RATE } pace_measured_kind;

typedef struct {
    int column;
    pace_pass pass; /* PACE_PASSES: as the row says */
    bool both;      /* forward and backward together */
    pace_measured_kind kind;
    double unit_s; /* seconds in the column's unit, or flop or bytes per second; 0 = not said */
    char unit[16];
    bool guessed_unit; /* nothing names a unit: the one that fits the formulas best */
    bool link;         /* its name is the operation: "H2D (GB/s)", of a table that names none otherwise */
} pace_measured_column;

typedef struct {
    const pace_yaml *yaml;
    const pace_yaml_node *kernel;
    int device, source, op, dtype, pass, layout, trans_a, trans_b, unit, window, timed; /* columns; -1 = not there */
    bool op_is_hint;                         /* the column of operations is a name that need not say one */
    int shape[PACE_SHAPE_COLUMNS];           /* each a shape, or a tensor's */
    char shape_order[PACE_SHAPE_COLUMNS][8]; /* of a column called "mnk" or "MxNxK"; "" = the usual */
    unsigned shape_count;
    pace_layout layouts[PACE_LAYOUTS_MOST];
    unsigned layout_count;
    pace_measured_column measured[PACE_MEASURED_MOST];
    unsigned measured_count;
} pace_columns;

/* What the words of a row say of its operation. */
typedef struct {
    pace_op op;
    pace_compound compound;
    bool both;                                  /* forward and backward together */
    double queries, causal, head_dim, kv_heads; /* that the operation's name implies; NAN = it does not */
} pace_op_words;

/** Words that say nothing yet. */
#define PACE_OP_NO_WORDS ((pace_op_words){.queries = NAN, .causal = NAN, .head_dim = NAN, .kv_heads = NAN})

/** Finds the columns of a table. Never fails for lack of one: what is not there is -1 or counted as missing. */
pace_status pace_columns_find(pace_columns *out, pace_catalog *catalog, const pace_csv *csv) PACE_MUST_CHECK;

/** The first layout behind `after` (NULL = of all) of a family or compound; for PACE_OP_UNKNOWN, of those that are
 * complete without an operation's name. NULL when there is none. */
const pace_layout *pace_columns_layout(const pace_columns *columns, pace_op_family family, pace_compound compound,
                                       const pace_layout *after);

/** How many of the words, each a key of a section of columns.yaml, a table has a column for; NULL ends them. */
unsigned pace_columns_present(const pace_columns *columns, const char *section, const pace_csv *csv,
                              const char *const *words);

/** Says what is missing: PACE_E_INPUT with the name that was expected and the closest column there is. */
pace_status pace_columns_fail(const pace_columns *columns, const pace_csv *csv, pace_op_family family);

/** Words of cells. False when the word is not known. */
bool pace_columns_dtype(pace_op *op, const pace_columns *columns, const char *word);
bool pace_columns_op(pace_op_words *out, const pace_columns *columns, const char *word);
/** How a layer of such a precision, measured with such a tool ("vllm_0.14.0"), quantises its input before its product:
 * the kind of src/cost/quantise.h, "" when it does not. */
const char *pace_columns_quantised(const pace_columns *columns, const char *source, const char *dtype);
bool pace_columns_pass(pace_op_words *out, const pace_columns *columns, const char *word);
/** Whether a table timed calls of a framework, and not what the device does alone. */
bool pace_columns_timed(bool *calls, const pace_yaml *yaml, const char *word);
