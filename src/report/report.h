/*
 * One document type. A verb's builder fills a tree of nodes; a renderer per format walks it and knows no verb.
 *
 * In JSON an object node is an object, a table an array of objects (or, with a row key, an object of objects), a
 * field a member. For people (table, HTML) sections have titles, tables are aligned and cut at `rows_shown`.
 * A node may be for JSON only or for people only, where the two need different shapes.
 *
 * All text is copied. Builder calls never fail visibly: the first failure (out of memory) is kept and returned by
 * pace_report_status(), so builders stay readable and check once.
 */
#pragma once

#include "base/column.h"
#include "base/json_writer.h"
#include "base/warning.h"

typedef struct pace_report pace_report;
typedef struct pace_node pace_node;

#define PACE_NO_INT INT64_MIN /* a whole number that is not known */

typedef enum { PACE_FOR_ALL, PACE_FOR_JSON, PACE_FOR_PEOPLE } pace_audience;

/* Colours of pictures: the classes that the style sheet knows. */
typedef enum {
    PACE_CLASS_COMPUTE,
    PACE_CLASS_MEMORY,
    PACE_CLASS_COPY,
    PACE_CLASS_COMMUNICATION,
    PACE_CLASS_HOST,
    PACE_CLASS_IDLE,
    PACE_CLASS_WAIT,
    PACE_CLASS_INPUT,
    PACE_CLASS_FORWARD,
    PACE_CLASS_BACKWARD,
    PACE_CLASS_UPDATE,
    PACE_CLASS_OTHER,
    PACE_CLASS_PATH,
    PACE_CLASS_COUNT,
} pace_class;

/** A new report of `verb`: {"schema":"paceline.<verb>/1","paceline":…,"command":[…],"inputs":[…],…}. */
pace_status pace_report_new(pace_report **out, const char *verb, const char *title) PACE_MUST_CHECK;
pace_status pace_report_status(const pace_report *report);
/** A new report that build(report, context) fills; none when either fails. */
pace_status pace_report_build(pace_report **out, const char *verb, const char *title,
                              pace_status (*build)(pace_report *report, void *context), void *context) PACE_MUST_CHECK;
/** Hands a report that was built over to `*out`, or frees it when `status` is a failure; returns `status`. */
pace_status pace_report_give(pace_report **out, pace_report *report, pace_status status);
void pace_report_set_command(pace_report *report, const char *const *words, size_t count);
/** An input and how many bytes are stored of it; 0: as many as the file has, or none where it is no file. */
void pace_report_add_input(pace_report *report, const char *path, uint64_t bytes);

/** The answer is no, as of a step that cannot run: pace_answer_holds() is false then. */
void pace_report_deny(pace_report *report);

/** What must be known beside the answer. `place` (the file, row, case or what-if that it is about) may be NULL. */
void pace_report_warn(pace_report *report, pace_warning_code code, const char *place, const char *format, ...)
    PACE_PRINTF(4, 5);
/** People read the last warning in a sentence that leads. */
void pace_report_warned_in_lead(pace_report *report);
/** The same as the sentence before all that the report has. */
void pace_report_lead(pace_report *report, pace_warning_code code, const char *format, ...) PACE_PRINTF(3, 4);
/** Copies of all of a list. */
void pace_report_warn_all(pace_report *report, const pace_warnings *warnings);

size_t pace_report_warning_count(const pace_report *report);
pace_warning pace_report_warning(const pace_report *report, size_t index);
/** Whether people read the warning as a sentence that leads. */
bool pace_report_warning_leads(const pace_report *report, size_t index);
/** The warnings as a JSON array. */
void pace_write_warnings(pace_jsonw *json, const pace_report *report);
pace_status pace_report_write(const pace_report *report, pace_format format, const pace_write_options *options,
                              pace_write_fn write, void *context) PACE_MUST_CHECK;
void pace_report_free(pace_report *report);

/** A figure in full precision, under "values" in JSON alone, where it prints so that it reads back to the same double:
 * pace_report_value(report, "step.median_s", 0.0125). */
void pace_report_value(pace_report *report, const char *path, double value);

/** Where CSV is no table of the tree but a stream of its own; `free_context` frees `context` with the report. */
typedef pace_status (*pace_stream_fn)(void *context, pace_sink *sink);
void pace_report_set_stream(pace_report *report, pace_stream_fn write, void *context, void (*free_context)(void *));

/** The root object. */
pace_node *pace_report_root(pace_report *report);

/** The report of a node; NULL of NULL, which stands for a node that could not be made. */
pace_report *pace_node_report(pace_node *node);

/** A nested object. `title` (may be NULL) heads it for people. */
pace_node *pace_node_object(pace_node *parent, const char *key, const char *title, pace_audience audience);
/** An array of objects, for JSON only; each pace_node_item() is one. */
pace_node *pace_node_list(pace_node *parent, const char *key);
pace_node *pace_node_item(pace_node *list);

void pace_node_int(pace_node *object, const char *key, int64_t value);      /* PACE_NO_INT is written as null */
void pace_node_real(pace_node *object, const char *key, double value);      /* NaN is written as null */
void pace_node_text(pace_node *object, const char *key, const char *value); /* NULL is written as null */
void pace_node_bool(pace_node *object, const char *key, bool value);

/** A line for people (JSON: collected under "summary"). `strong` = it leads with the answer. */
void pace_node_sentence(pace_node *object, bool strong, const char *format, ...) PACE_PRINTF(3, 4);
/** A smaller line for people: a definition, a caveat (JSON: collected under "notes"). */
void pace_node_note(pace_node *object, const char *format, ...) PACE_PRINTF(2, 3);

/** A table. rows_shown 0 = all rows for people. The first table of a report is its main one for CSV. */
pace_node *pace_node_table(pace_node *parent, const char *key, const char *title, pace_audience audience,
                           const pace_column *columns, size_t column_count, size_t rows_shown);
/** So many rows of every table that comes are shown to people; 0 = as many as each table shows. */
void pace_report_show_rows(pace_report *report, size_t rows);
/** Appends a row; then one cell per column in order. */
void pace_table_row(pace_node *table);
void pace_table_text(pace_node *table, const char *value);
void pace_table_int(pace_node *table, int64_t value);
void pace_table_real(pace_node *table, double value);
void pace_table_none(pace_node *table); /* null, shown as "-" */

/** A matrix of int64 ns: JSON {ROW:{COLUMN_ns}}; people: a table with sums; HTML: stacked bars too.
 * `cells` is row-major. Columns that are zero everywhere are not shown to people. */
void pace_node_matrix(pace_node *parent, const char *key, const char *title, pace_audience audience,
                      const char *const *rows, size_t row_count, const char *const *columns, size_t column_count,
                      const int64_t *cells);

/** The matrix put last under `parent`: its bars, drawn over `whole_ns`, compare with those of others so drawn. */
void pace_node_scale(pace_node *parent, int64_t whole_ns);

/** The same matrix: a colour for each column. The colours must outlive the report. */
void pace_node_color_matrix(pace_node *parent, const pace_class *colors);

/** A picture for people (HTML only; not in JSON): lanes of slices, of which [from_ns, to_ns) is shown at first. `draw`
 * fills it (report/timeline.h) when a page is written, and `free_context` frees `context` with the report. The node
 * takes the context over, whatever comes of it. */
typedef struct pace_timeline pace_timeline;
typedef pace_status (*pace_draw_fn)(void *context, pace_timeline *timeline);
void pace_node_timeline(pace_node *parent, const char *title, int64_t from_ns, int64_t to_ns, pace_draw_fn draw,
                        void *context, void (*free_context)(void *));

/* How a chart is drawn, as flags. */
enum {
    PACE_CHART_LOG_X = 1,
    PACE_CHART_LOG_Y = 2,   /* the axis of y is one of factors of ten; y = 0 is left out */
    PACE_CHART_STACKED = 4, /* each curve stands on the one before, and the areas between are filled; all have their
                               points at the same x */
};
/** A picture for people (HTML only; not in JSON): curves over one axis, that of y from 0 to 1 at least. */
pace_node *pace_node_chart(pace_node *parent, const char *title, const char *x_title, unsigned flags);
/** The same of stacked bars: each "curve" is a bar, each "point" the share y of the next part. */
pace_node *pace_node_stacks(pace_node *parent, const char *title, const char *const *parts, size_t part_count);
typedef enum {
    PACE_CURVE_LINE,
    PACE_CURVE_PALE, /* what the others are seen against: drawn thin and grey */
    PACE_CURVE_DOTS, /* points of their own, not joined */
} pace_curve_look;
/** Begins a curve, whose name is formatted. */
void pace_chart_curve(pace_node *chart, pace_curve_look look, const char *format, ...) PACE_PRINTF(3, 4);
/** The colours of the parts of stacked bars, and of the last curve: where they mean the same elsewhere on the page. */
void pace_chart_part_colors(pace_node *chart, const pace_class *colors);
void pace_chart_color(pace_node *chart, pace_class color);

/** A picture for people (HTML only; not in JSON): a flame graph. `draw` fills it (report/analyze/flame.h) when a page
 * is written, and `free_context` frees `context` with the report. The node takes the context over, whatever comes of
 * it. */
typedef struct pace_flame pace_flame;
typedef pace_status (*pace_flame_fn)(void *context, pace_flame *flame);
void pace_node_flame(pace_node *parent, const char *title, pace_flame_fn draw, void *context,
                     void (*free_context)(void *));

/** Marks x from `low` to `high`. */
void pace_chart_band(pace_node *chart, double low, double high, const char *name);
/** A point of the last curve; on a logarithmic axis x = 0 is left out. */
void pace_chart_point(pace_node *chart, double x, double y);

/** A picture for people (HTML only; not in JSON): values of rows and columns as colours, against their median; `ns` is
 * row by row, negative = there is none. */
void pace_node_heat(pace_node *parent, const char *title, const char *const *rows, size_t row_count,
                    const char *const *columns, size_t column_count, const int64_t *ns);
/** The same: a bar each, stacked of parts. */
void pace_node_bars(pace_node *parent, const char *title, const char *const *bars, size_t bar_count,
                    const char *const *parts, const pace_class *colors, size_t part_count, const int64_t *ns);

/* The member of a timeline that holds the warnings of its report. */
#define PACE_WARNINGS_MEMBER "pacelineWarnings"

/** What the perfetto format writes: set by the builder, called by the renderer. */
typedef pace_status (*pace_trace_fn)(void *context, const pace_report *report, pace_sink *sink);
void pace_report_set_trace(pace_report *report, pace_trace_fn write, void *context, void (*free_context)(void *));

/** What the folded formats write: set by the builder, called by the renderer. */
typedef pace_status (*pace_stacks_fn)(void *context, bool device, pace_sink *sink);
void pace_report_set_stacks(pace_report *report, pace_stacks_fn write, void *context, void (*free_context)(void *));

/** Hands out a report about rows that was begun when pace_memory_failures() was `failures`, or frees it: PACE_E_MEMORY
 * when memory ran out since, for then rows may say so where an answer should stand. `status` is what making it gave;
 * no report comes with a failure. */
pace_status pace_report_settle(pace_report **out, pace_report *report, pace_status status,
                               uint64_t failures) PACE_MUST_CHECK;
