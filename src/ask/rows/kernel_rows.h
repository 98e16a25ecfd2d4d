/* Rows of a table as questions about kernels: an operation, a device, and the time when it was measured. */
#pragma once

#include "base/intern.h"
#include "cost/cost.h"
#include "ask/rows/columns.h"

/* One question. A row with several measured columns is several. */
typedef struct {
    uint32_t row;
    uint32_t measured;               /* of pace_columns.measured; 0 when nothing was measured */
    uint32_t first_part, part_count; /* of pace_kernel_rows.parts; 0 parts: `op` alone */
    pace_op op;
    const pace_device *device; /* NULL: not known */
    const char *source;        /* borrowed from the table */
    double time_s;             /* NAN: not measured */
    const char *unit;          /* of time, as a column of units says for this row; NULL = none does */
    double unit_s;             /* its seconds; 0 = none */
    bool open_unit;            /* nothing says the unit of its time */
    uint64_t shape;            /* the same sizes, whatever the device, precision, pass or source */
    const char *ordered;       /* the column that says how operands lie, otherwise than usual; "" = none */
    const char *windowed;      /* "window" if its cell is no number of keys; "" = none */
    const char *shaped;        /* "shape" where one says other sizes than the row's columns; "" = none */
    const char *timed;         /* "timed" if its word is not known; "" = it is */
    bool called;               /* what was timed is a call of the operator, not its kernel alone */
    bool order_known;          /* only fits tell known orders apart, and nothing others */
    char status[144];          /* "" = it can be asked */
} pace_kernel_row;

typedef struct {
    pace_csv csv;
    pace_columns columns;
    PACE_VEC(pace_kernel_row) rows;
    PACE_VEC(pace_op_part) parts;
} pace_kernel_rows;

/** Reads a table and turns its rows into questions. `device` (may be NULL) answers for rows that name none. Errors:
 * those of pace_csv_read(); PACE_E_INPUT when no family's columns are there. A row that cannot be asked says why. Times
 * that nothing says the unit of are left to pace_kernel_units_settle(). */
pace_status pace_kernel_rows_read(pace_kernel_rows *out, pace_input *input, pace_device_catalog *catalog,
                                  const pace_device *device) PACE_MUST_CHECK;
void pace_kernel_rows_free(pace_kernel_rows *rows);

/** Says that a row's cell of the column of units names none. */
void pace_kernel_unit_refuse(pace_kernel_row *row, const pace_kernel_rows *rows, const char *found);

/** Whether a question has a device and an operation with work: a time that was not measured, or not well, is no reason
 * not to predict it. */
bool pace_kernel_row_can_ask(const pace_kernel_row *row);

/** What a question takes. Parts run one after the other, and their errors are taken to go together. */
pace_status pace_kernel_row_price(pace_estimate *out_s, const pace_cost *cost, const pace_kernel_rows *rows,
                                  const pace_kernel_row *row) PACE_MUST_CHECK;

/** What of a row lies outside the rows of the fit that answers it: pace_cost_beyond() of it or its parts. */
const char *pace_kernel_row_beyond(const pace_cost *cost, const pace_kernel_rows *rows, const pace_kernel_row *row);
