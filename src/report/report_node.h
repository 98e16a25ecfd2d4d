/*
 * The report's tree as its renderers see it. Private to src/report.
 */
#pragma once

#include "base/intern.h"
#include "base/texts.h"
#include "report/table.h"

typedef enum {
    PACE_NODE_OBJECT,
    PACE_NODE_LIST,
    PACE_NODE_INT,
    PACE_NODE_REAL,
    PACE_NODE_TEXT,
    PACE_NODE_BOOL,
    PACE_NODE_NULL,
    PACE_NODE_STRONG, /* a sentence that leads */
    PACE_NODE_SENTENCE,
    PACE_NODE_NOTE,
    PACE_NODE_TABLE,
    PACE_NODE_MATRIX,
    PACE_NODE_TIMELINE,
    PACE_NODE_CHART,
    PACE_NODE_GRID,
    PACE_NODE_FLAME,
} pace_node_kind;

typedef enum { PACE_CELL_NONE, PACE_CELL_TEXT, PACE_CELL_INT, PACE_CELL_REAL } pace_cell_kind;

typedef struct {
    pace_cell_kind kind;
    union {
        char *text;
        int64_t integer;
        double real;
    };
} pace_cell;

typedef struct {
    char *key, *title;
    pace_show show;
} pace_held_column;

/* Rows are row-major in `cells`; a row whose cells are not all given is padded when the next one begins. */
typedef struct {
    PACE_VEC(pace_held_column) columns;
    PACE_VEC(pace_cell) cells;
    size_t row_count, rows_shown;
    const pace_table *declared; /* NULL, or what its rows are put by; borrowed */
    unsigned flags;
} pace_held_table;

typedef struct {
    pace_texts rows, columns;
    int64_t *cells;
    int64_t whole_ns;         /* what the width of its bars stands for; 0 = its longest bar */
    const pace_class *colors; /* of its columns; borrowed; NULL = classes by turns */
} pace_held_matrix;

/* What a function draws or writes from when the report is written. */
typedef struct {
    void *context;
    void (*free_context)(void *); /* NULL: it is borrowed */
} pace_held_context;

/* Drawn when a page is written: see report/timeline.h. */
typedef struct {
    int64_t from_ns, to_ns; /* what is shown at first */
    pace_draw_fn draw;
    pace_held_context by;
} pace_held_timeline;

typedef struct {
    double x, y;
} pace_point;

typedef struct {
    char *name;
    pace_curve_look look;
    bool colored;
    pace_class color; /* where it has one of its own; else the next that no other curve of the chart has */
    PACE_VEC(pace_point) points;
} pace_held_curve;

typedef struct {
    double low, high;
    char *name;
} pace_held_band;

/* Drawn when a page is written: see report/analyze/flame.h. */
typedef struct {
    pace_flame_fn draw;
    pace_held_context by;
} pace_held_flame;

/* Curves; or, with parts, stacked bars. */
typedef struct {
    char *x_title;
    unsigned flags;
    pace_texts parts;
    PACE_VEC(pace_class) part_colors; /* none: one after the other */
    PACE_VEC(pace_held_curve) curves;
    PACE_VEC(pace_held_band) bands;
} pace_held_chart;

/* Values of two texts: a heat map of rows and columns, or, with colours, a bar a row of parts that are columns. */
typedef struct {
    pace_texts rows, columns;
    int64_t *values; /* ns, row by row; negative = none */
    pace_class *colors;
} pace_held_grid;

struct pace_node {
    pace_node_kind kind;
    pace_audience audience;
    pace_report *report;
    char *key, *title; /* either may be NULL */
    pace_node *parent, *first, *last, *next;
    union {
        int64_t integer;
        double real;
        bool flag;
        char *text; /* sentences, notes and text fields; NULL = null */
        void *held;
        pace_held_table *table;
        pace_held_matrix *matrix;
        pace_held_timeline *timeline;
        pace_held_chart *chart;
        pace_held_grid *grid;
        pace_held_flame *flame;
    };
};

typedef struct {
    char *path;
    uint64_t bytes;
} pace_held_input;

struct pace_report {
    size_t rows_shown;  /* of each table; 0 = as many as it shows */
    pace_status status; /* the first failure of a builder call */
    bool denied;        /* the answer is no */
    char *verb, *title;
    pace_texts command;
    PACE_VEC(pace_held_input) inputs;
    pace_warnings warnings;
    PACE_VEC(size_t) leads; /* warnings that people read as sentences that lead */
    pace_node *root;
    pace_trace_fn trace;
    pace_stacks_fn stacks;
    pace_stream_fn stream; /* NULL: CSV is a table */
    pace_held_context traced, stacked, streamed;
};

/** The class's name, as the style sheet spells it. */
const char *pace_class_name(pace_class value);

/** The node behind `node` in a walk of the tree that starts at `root`, parents first; NULL at the end. */
const pace_node *pace_node_after(const pace_node *root, const pace_node *node);

/** A table or matrix by its path, or by its last key where one table alone has it; with NULL the first table, or the
 * first matrix when there is no table. PACE_E_USAGE lists the tables that there are. */
pace_status pace_report_find_table(const pace_node **out, const pace_report *report, const char *key) PACE_MUST_CHECK;

/** The cell of a table, or a "none" cell when its row was not filled so far. */
pace_cell pace_table_cell(const pace_held_table *table, size_t row, size_t column);

pace_status pace_render_table(const pace_report *report, const pace_write_options *options, pace_sink *sink);
pace_status pace_render_json(const pace_report *report, pace_sink *sink);
pace_status pace_render_csv(const pace_report *report, const pace_write_options *options, pace_sink *sink);
pace_status pace_render_html(const pace_report *report, pace_sink *sink);
pace_status pace_render_perfetto(const pace_report *report, pace_sink *sink);
pace_status pace_render_folded(const pace_report *report, bool device, pace_sink *sink);
pace_status pace_render_junit(const pace_report *report, pace_sink *sink);
