/*
 * Which columns of a table mean what, by their names (catalog/columns.yaml): what a kernel's row asks, and which
 * of its columns were measured.
 */
#ifndef PACE_ROWS_COLUMNS_H
#define PACE_ROWS_COLUMNS_H

#include "machine/catalog.h"
#include "rows/csv.h"
#include "step/op.h"

enum { PACE_COLUMN_FACTORS = 3, PACE_MEASURED_MOST = 8 };

/* Where a size comes from: the product of some columns, or a default. */
typedef struct {
    int column[PACE_COLUMN_FACTORS]; /* -1 = none */
    double fallback;                 /* NAN = the size must be there */
} pace_size_column;

/* What one family needs, found in one table. */
typedef struct {
    pace_op_family family;
    pace_size_column size[PACE_OP_SIZES];
    bool by_op;  /* only where the row names the operation */
    int missing; /* the first size that is not there; -1 = complete */
} pace_layout;

typedef struct {
    int column;
    pace_pass pass; /* PACE_PASSES: as the row says */
    double unit_s;  /* seconds in the column's unit */
    char unit[8];
} pace_measured_column;

typedef struct {
    pace_yaml *yaml;
    const pace_yaml_node *kernel;
    int device, source, op, dtype, pass, trans_a, trans_b; /* columns; -1 = not there */
    pace_layout layouts[PACE_OP_FAMILIES];
    unsigned layout_count;
    pace_measured_column measured[PACE_MEASURED_MOST];
    unsigned measured_count;
} pace_columns;

/** Finds the columns of a table. Never fails for lack of one: what is not there is -1 or counted as missing. */
pace_status pace_columns_find(pace_columns *out, const pace_csv *csv) PACE_MUST_CHECK;
void pace_columns_free(pace_columns *columns);

/** The layout of a family, or, for PACE_OP_UNKNOWN, the first that is complete; NULL when there is none. */
const pace_layout *pace_columns_layout(const pace_columns *columns, pace_op_family family);

/** Says what is missing: PACE_E_INPUT with the name that was expected and the closest column there is. */
pace_status pace_columns_fail(const pace_columns *columns, const pace_csv *csv, pace_op_family family);

/** Words of cells. False when the word is not known. */
bool pace_columns_dtype(pace_op *op, const pace_columns *columns, const char *word);
bool pace_columns_op(pace_op *op, const pace_columns *columns, const char *word);
bool pace_columns_pass(pace_op *op, const pace_columns *columns, const char *word);

#endif
