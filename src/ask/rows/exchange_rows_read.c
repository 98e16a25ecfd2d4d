#include "ask/rows/column_finder.h"
#include "base/order.h"
#include "ask/rows/columns.h"
#include "cost/host_costs_catalog.h"
#include "ask/rows/wanted_columns.h"
#include "ask/rows/element_words.h"
#include "ask/rows/exchange_logs.h"
#include "ask/rows/exchange_stack.h"
#include "ask/rows/measured_cell.h"
#include "ask/predict/exchange_asked.h"
#include "exchange/measured_ways.h"
#include "base/print.h"
#include "base/text.h"
#include "base/yaml_member.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_LOG = 64 << 20 };

static const double largest_bytes = 1e18;

enum { MOST_VARIANTS = 8 };

typedef struct {
    pace_exchange_rows *rows;
    const pace_exchange_defaults *defaults;
    const pace_yaml *yaml;
    const pace_yaml_node *names;
    int system, device, collective, ranks, per_node, nodes, bytes, elements, dtype, in_place, wrong, algorithm,
        protocol, channels, approach, timed;
    pace_exchange_call call;
    int variant[MOST_VARIANTS];
    int variants;
    double bytes_unit; /* of the column of sizes */
    int rate;          /* column of a rate that stands for a time; -1 = none */
    double rate_unit;  /* in bytes per second */
    bool bus;          /* the rate is bus bandwidth */
} reader;

void pace_exchange_rows_free(pace_exchange_rows *rows) {
    pace_csv_free(&rows->csv);
    PACE_VEC_FREE(&rows->rows);
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* A column of one of a key's names and a unit, or alone. */
static pace_unit_column find_with_unit(const reader *r, const char *key, const char *units) {
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_root(r->yaml), "units");
    return pace_find_unit_column(&r->rows->csv, pace_yaml_get(r->names, key), r->yaml, pace_yaml_get(all, units), 0);
}

/* A time; without a unit in microseconds, as nccl-tests and OSU print it. A rate only where no time is. */
static void find_measured(reader *r) {
    pace_exchange_rows *rows = r->rows;
    pace_unit_column found = find_with_unit(r, "measured", "times");
    rows->measured = found.column;
    if (rows->measured >= 0) {
        rows->unit_s = found.unit > 0 ? found.unit : 1e-6;
        snprintf(rows->unit, sizeof rows->unit, "%.7s", found.unit > 0 ? found.word : "us");
        return;
    }
    found = find_with_unit(r, "rate", "rates");
    if (found.column < 0) found = find_with_unit(r, "bus_rate", "rates"), r->bus = true;
    r->rate = found.column;
    r->rate_unit = found.unit > 0 ? found.unit : 1e9;
}

static void find_variants(reader *r) {
    const pace_yaml_node *list = pace_yaml_get(r->names, "variant");
    for (size_t i = 0; i < pace_yaml_count(list) && r->variants < MOST_VARIANTS; i++) {
        const char *name = pace_yaml_text(pace_yaml_item(list, i));
        int column = name ? pace_find_column_named(&r->rows->csv, name, strlen(name)) : -1;
        if (column >= 0) r->variant[r->variants++] = column;
    }
}

static pace_status find_columns(reader *r, pace_catalog *catalog) {
    const pace_wanted_column ways[] = {{.key = "approach", .column = &r->approach}};
    PACE_TRY(pace_wanted_columns_find(catalog, "exchange", &r->rows->csv, ways, 1));
    bool placed = r->defaults->machine != NULL, said = r->defaults->collective != NULL || r->approach >= 0;
    const pace_wanted_column wanted[] = {
        {.key = "collective", .column = &r->collective, .needed = !said, .or_field = "collective"},
        {.key = "per_node", .column = &r->per_node},
        {.key = "ranks", .column = &r->ranks},
        {.key = "nodes", .column = &r->nodes},
        {.key = "elements", .column = &r->elements},
        {.key = "system", .column = &r->system},
        {.key = "device", .column = &r->device},
        {.key = "dtype", .column = &r->dtype},
        {.key = "in_place", .column = &r->in_place},
        {.key = "wrong", .column = &r->wrong},
        {.key = "algorithm", .column = &r->algorithm},
        {.key = "protocol", .column = &r->protocol},
        {.key = "channels", .column = &r->channels},
        {.key = "timed", .column = &r->timed}};
    const char *name = r->rows->csv.name;
    pace_unit_column bytes = find_with_unit(r, "bytes", "sizes");
    PACE_TRY(pace_wanted_columns_find(catalog, "exchange", &r->rows->csv, wanted, PACE_COUNT(wanted)));
    r->bytes = bytes.column;
    r->bytes_unit = bytes.unit > 0 ? bytes.unit : 1;
    find_measured(r);
    find_variants(r);
    if (r->bytes < 0 && r->elements < 0)
        return pace_fail(PACE_E_INPUT, "%s: expected a column \"bytes\" (or \"elements\")", name);
    if (r->ranks < 0 && r->per_node < 0 && !placed)
        return pace_fail(PACE_E_INPUT, "%s: expected a column \"gpus\" (or \"ranks\"), or " PACE_FIELD "on", name);
    return PACE_OK;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static bool whole(double *out, pace_exchange_row *row, const char *what, const char *text) {
    if (pace_csv_number(out, text) && *out >= 1 && *out <= 1 << 20 && *out == floor(*out)) return true;
    snprintf(row->status, sizeof row->status, "%s: expected a whole number from 1, found \"%.30s\"", what, text);
    return false;
}

/* Ranks, nodes and ranks of a node: any two tell the third; a machine tells what no column does. */
static bool set_ranks(pace_exchange_row *out, const reader *r, size_t row) {
    const pace_machine *m = r->defaults->machine;
    double ranks = 0, nodes = 0, near = 0;
    if (r->ranks >= 0 && !whole(&ranks, out, "ranks", pace_csv_at(&r->rows->csv, row, r->ranks))) return false;
    if (*pace_csv_at(&r->rows->csv, row, r->nodes) &&
        !whole(&nodes, out, "nodes", pace_csv_at(&r->rows->csv, row, r->nodes)))
        return false;
    if (*pace_csv_at(&r->rows->csv, row, r->per_node) &&
        !whole(&near, out, "ranks of a node", pace_csv_at(&r->rows->csv, row, r->per_node)))
        return false;
    out->unused_per_node = near > 0 && ranks > 0 && nodes > 0 && near * nodes != ranks;
    if (ranks == 0 && near > 0) ranks = near * (nodes > 0 ? nodes : 1);
    if (ranks == 0 && m) {
        if (nodes == 0) nodes = m->nodes;
        ranks = m->devices * nodes;
    }
    if (nodes == 0 && near > 0) nodes = ceil(ranks / near);
    out->nodes_guessed = nodes == 0;
    if (nodes == 0) nodes = m && ranks > m->devices ? ceil(ranks / m->devices) : 1;
    out->nodes = (int)nodes;
    out->ranks_per_node = (int)(ranks / nodes);
    if (out->ranks_per_node * nodes == ranks && ranks > 0) return true;
    pace_snprintf(out->status, sizeof out->status, "%g ranks do not divide into %g nodes", ranks, nodes);
    return false;
}

/* Elements are counted of a rank or of all. */
static void hold_elements(pace_exchange_row *out, const reader *r, size_t row, double element) {
    double count, ranks = (double)out->ranks_per_node * out->nodes;
    const char *text = pace_csv_at(&r->rows->csv, row, r->elements);
    bool number = pace_csv_number(&count, text);
    out->said_dtype = r->bytes >= 0 && !number && *pace_csv_at(&r->rows->csv, row, r->dtype);
    out->unused_elements = r->bytes >= 0 && *text && !number;
    if (r->bytes >= 0 && number)
        out->unused_elements = count * element != out->bytes && count * element * ranks != out->bytes;
}

static bool set_bytes(pace_exchange_row *out, const reader *r, size_t row) {
    const char *text = pace_csv_at(&r->rows->csv, row, r->bytes >= 0 ? r->bytes : r->elements),
               *dtype = pace_csv_at(&r->rows->csv, row, r->dtype);
    double value, element = pace_element_word_bytes(dtype), each = r->bytes >= 0 ? r->bytes_unit : element;
    if (element == 0) {
        snprintf(out->status, sizeof out->status, "unknown dtype \"%.40s\"", dtype);
        return false;
    }
    if (*dtype) out->element_bytes = (int)element;
    out->assumed_dtype = !*dtype && r->bytes < 0;
    bool good = pace_csv_number(&value, text);
    if (good && each == (r->bytes >= 0 ? 1 : element) && value != floor(value)) {
        snprintf(out->status, sizeof out->status, "%s: expected a whole number, found \"%.30s\"",
                 r->bytes >= 0 ? "bytes" : "elements", text);
        return false;
    }
    if (!good && r->bytes >= 0 && pace_parse_bytes(&value, text)) good = true, each = 1;
    if (good && value >= 0 && value * each <= largest_bytes) {
        out->bytes = value * each;
        hold_elements(out, r, row, element);
        return true;
    }
    snprintf(out->status, sizeof out->status, "bytes: expected a size of 0 or more, found \"%.30s\"", text);
    return false;
}

static bool set_collective(pace_exchange_row *out, const reader *r, size_t row) {
    const char *text = r->collective >= 0 ? pace_csv_at(&r->rows->csv, row, r->collective) : r->defaults->collective;
    if (text && !*text && r->defaults->collective) text = r->defaults->collective;
    if (!text || (!*text && *out->approach)) text = "allreduce"; /* approaches reduce gradients */
    if (pace_collective_find(&out->collective, text)) return true;
    snprintf(out->status, sizeof out->status, "unknown collective \"%.40s\"", text);
    return false;
}

static void set_time(pace_exchange_row *out, const reader *r, size_t row) {
    int column = r->rows->measured >= 0 ? r->rows->measured : r->rate;
    const char *text = pace_csv_at(&r->rows->csv, row, column);
    double value, wrong, factor = r->bus ? pace_bus_factor(out->collective, out->ranks_per_node * out->nodes) : 1;
    if (pace_csv_number(&wrong, pace_csv_at(&r->rows->csv, row, r->wrong)) && wrong > 0) {
        pace_snprintf(out->unmeasured, sizeof out->unmeasured, "its result is wrong in %.6g elements", wrong);
        return;
    }
    bool rate = r->rows->measured < 0;
    pace_measured_cell told =
        rate ? pace_measured_rate(&value, text) : pace_measured_time(&value, r->yaml, text, r->rows->unit_s);
    if (told == PACE_CELL_REFUSED)
        pace_measured_refuse(out->unmeasured, pace_csv_name(&r->rows->csv, (size_t)column), rate, text);
    if (told != PACE_CELL_MEASURED) return;
    if (!rate) out->time_s = value;
    else if (factor > 0) out->time_s = out->bytes * factor / (value * r->rate_unit);
}

/* A call timed alone waits for its host first, which no loop of exchanges hides. */
static void set_call(pace_exchange_row *out, const reader *r, size_t row) {
    const char *text = pace_csv_at(&r->rows->csv, row, r->timed),
               *name = pace_csv_at(&r->rows->csv, row, r->collective);
    bool calls = false;
    if (!*text) return;
    out->unused_timed = !pace_columns_timed(&calls, r->yaml, text);
    if (!calls) return;
    const pace_yaml_node *lists_of = pace_yaml_get(pace_yaml_get(pace_yaml_root(r->yaml), "timed"), "lists");
    bool lists = pace_word_listed(lists_of, name);
    out->call_s = r->call.call_s + (lists ? out->ranks_per_node * out->nodes * r->call.copy_s : 0);
    if (out->stack == PACE_STACK_FRAMEWORK) out->stack = PACE_STACK_UNSAID; /* its host is counted so */
}

static bool is_library_choice(const char *text) {
    static const char *const own[] = {"auto", "default", "any", "none", "-", "nan", "n/a"};
    for (size_t i = 0; i < PACE_COUNT(own); i++)
        if (pace_strcasecmp(text, own[i]) == 0) return true;
    return false;
}

static bool says_no(const char *text) {
    return !*text || strcmp(text, "0") == 0 || pace_strcasecmp(text, "false") == 0 ||
           pace_strcasecmp(text, "no") == 0 || pace_strncasecmp(text, "out", 3) == 0 || is_library_choice(text);
}

static bool says_yes(const char *text) {
    return strcmp(text, "1") == 0 || pace_strcasecmp(text, "true") == 0 || pace_strcasecmp(text, "yes") == 0 ||
           pace_strncasecmp(text, "in", 2) == 0;
}

/* What the closed form follows: NCCL and RCCL, and what starts them. */
static bool is_followed(const char *word) {
    return strcasestr(word, "nccl") || strcasestr(word, "rccl") ||
           pace_exchange_stack_of("", word) != PACE_STACK_UNSAID;
}

static void take_library(pace_exchange_row *out, const reader *r, int column, const char *word) {
    bool read = column == r->algorithm || column == r->protocol || column == r->approach;
    pace_exchange_library library;
    const char *line;
    bool textbook = !read && pace_read_library(&library, &line, word) == PACE_OK && library == PACE_LIBRARY_TEXTBOOK;
    if (textbook) out->library = library;
    if (!read && pace_strncasecmp(word, "rccl", 4) == 0) out->rccl = true;
    if (read || textbook || *out->unused_variant || is_library_choice(word) || is_followed(word)) return;
    snprintf(out->unused_variant, sizeof out->unused_variant, "%.24s %.32s",
             pace_csv_name(&r->rows->csv, (size_t)column), word);
    char name[sizeof out->other_library]; /* "Open MPI 4.1" -> "openmpi" */
    pace_squeeze(name, sizeof name, word, "");
    name[strcspn(name, "0123456789")] = '\0';
    if (pace_word_listed(pace_yaml_get(r->names, "other_libraries"), name))
        memcpy(out->other_library, name, sizeof name);
}

static bool set_channels(pace_exchange_row *out, const reader *r, size_t row) {
    const char *text = pace_csv_at(&r->rows->csv, row, r->channels);
    double channels;
    if (!*text || is_library_choice(text)) return true;
    if (!whole(&channels, out, "channels", text)) return false;
    out->said_channels = true;
    pace_list(out->variant, sizeof out->variant, "/", "%.0f" PACE_CHANNELS_WORD, channels);
    return true;
}

static void set_variant(pace_exchange_row *out, const reader *r, size_t row) {
    for (int i = 0; i < r->variants + 1; i++) {
        const char *word = i < r->variants ? pace_csv_at(&r->rows->csv, row, r->variant[i]) : "in place";
        if (!*word || (i == r->variants && !says_yes(pace_csv_at(&r->rows->csv, row, r->in_place)))) continue;
        pace_list(out->variant, sizeof out->variant, "/", "%.40s", word);
        if (i < r->variants) take_library(out, r, r->variant[i], word);
    }
    out->said_in_place = !says_no(pace_csv_at(&r->rows->csv, row, r->in_place));
}

/* "Ring" as "ring"; words for the library's own choice as "". */
static void set_choice(char *out, size_t size, const char *text) {
    if (is_library_choice(text)) return;
    snprintf(out, size, "%.*s", (int)size - 1, text);
    for (; *out; out++) *out = pace_lower(*out);
}

static bool set_approach(pace_exchange_row *out, const reader *r, size_t row) {
    const char *text = pace_csv_at(&r->rows->csv, row, r->approach);
    size_t length = strlen(text);
    if (length < sizeof out->approach) {
        memcpy(out->approach, text, length + 1);
        return true;
    }
    snprintf(out->status, sizeof out->status, "approach: expected at most %zu characters", sizeof out->approach - 1);
    return false;
}

static pace_status add_row(reader *r, size_t row) {
    pace_exchange_row out = {.row = (uint32_t)row, .time_s = NAN};
    const char *system = pace_csv_at(&r->rows->csv, row, r->system),
               *device = pace_csv_at(&r->rows->csv, row, r->device);
    if (!*system) system = device;
    if (!*system && r->defaults->machine) system = r->defaults->machine->name;
    snprintf(out.system, sizeof out.system, "%.95s", system);
    snprintf(out.device, sizeof out.device, "%.63s", device);
    set_variant(&out, r, row);
    out.stack = pace_exchange_stack_of(out.system, out.variant);
    set_choice(out.algorithm, sizeof out.algorithm, pace_csv_at(&r->rows->csv, row, r->algorithm));
    set_choice(out.protocol, sizeof out.protocol, pace_csv_at(&r->rows->csv, row, r->protocol));
    if (set_approach(&out, r, row) && set_collective(&out, r, row) && set_ranks(&out, r, row) &&
        set_bytes(&out, r, row) && set_channels(&out, r, row))
        set_time(&out, r, row);
    set_call(&out, r, row);
    if (!pace_collective_rows[out.collective].adds) out.element_bytes = 0;
    return PACE_PUSH(&r->rows->rows, out);
}

static pace_status read_table(pace_exchange_rows *out, pace_catalog *catalog, const pace_exchange_defaults *defaults) {
    reader r = {.rows = out, .defaults = defaults, .rate = -1};
    PACE_TRY(pace_catalog_document(&r.yaml, catalog, "columns.yaml"));
    r.names = pace_yaml_get(pace_yaml_root(r.yaml), "exchange");
    PACE_TRY(pace_exchange_call_load(&r.call, catalog));
    pace_status status = find_columns(&r, catalog);
    for (size_t i = 0; status == PACE_OK && i < out->csv.rows; i++) status = add_row(&r, i);
    return status;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static pace_status read_text(pace_exchange_rows *rows, pace_catalog *catalog, char *text, size_t length,
                             const pace_exchange_defaults *defaults) {
    pace_log_kind kind = pace_log_kind_of(text);
    pace_input *memory;
    if (memchr(text, '\0', length)) return pace_fail(PACE_E_INPUT, "%s: a NUL byte: expected text", rows->name);
    if (kind != PACE_LOG_NONE) return pace_log_read(rows, catalog, kind, text, length, defaults);
    PACE_TRY(pace_input_open_memory(&memory, rows->name, text, length));
    pace_status status = pace_csv_read(&rows->csv, memory);
    pace_input_free(memory);
    return status == PACE_OK ? read_table(rows, catalog, defaults) : status;
}

pace_status pace_exchange_rows_read(pace_exchange_rows *out, pace_catalog *catalog, pace_input *input,
                                    const pace_exchange_defaults *defaults) {
    pace_exchange_rows rows = {.measured = -1, .unit_s = 1, .unit = "s"};
    char *text;
    size_t length;
    snprintf(rows.name, sizeof rows.name, "%.255s", pace_input_name(input));
    PACE_TRY(pace_input_read_all(&text, &length, input, LARGEST_LOG));
    rows.bytes = pace_input_stored_bytes(input);
    pace_status status = read_text(&rows, catalog, text, length, defaults);
    pace_free(text);
    return PACE_GIVE(out, rows, status, pace_exchange_rows_free(&rows));
}

/* --- to a fit ----------------------------------------------------------------------------------------------------- */

static bool usable(const pace_exchange_row *row) {
    return !*row->status && !*row->approach && row->time_s > row->call_s && row->ranks_per_node * row->nodes > 1;
}

PACE_ORDER_AT(by_curve, pace_exchange_row,
              PACE_TEXT(system) PACE_UP(collective) PACE_UP(nodes) PACE_UP(ranks_per_node) PACE_UP(element_bytes)
                  PACE_TEXT(variant) PACE_UP(row))

static bool same_curve(const pace_exchange_row *x, const pace_exchange_row *y) {
    return strcmp(x->system, y->system) == 0 && x->collective == y->collective && x->nodes == y->nodes &&
           x->ranks_per_node == y->ranks_per_node && x->element_bytes == y->element_bytes &&
           strcmp(x->variant, y->variant) == 0;
}

/* Of the sizes a few, with all that was measured of each. `sizes` and `chosen` are room to work in. Returns how many
 * points are left. */
static size_t keep_probes(pace_curve_point *points, size_t count, pace_curve_point *sizes, size_t *chosen,
                          size_t probes) {
    size_t kept = 0;
    memcpy(sizes, points, count * sizeof *sizes);
    size_t left = pace_curve_tidy(sizes, count);
    if (left <= probes) return count;
    size_t found = pace_curve_probes(chosen, sizes, left, probes);
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < found; c++)
            if (points[i].bytes == sizes[chosen[c]].bytes) {
                points[kept++] = points[i];
                break;
            }
    return kept;
}

static pace_status add_curve(pace_exchange_fit *fit, const pace_exchange_row *const *rows, size_t count, int probes) {
    pace_exchange_curve key = {.collective = rows[0]->collective,
                               .ranks_per_node = rows[0]->ranks_per_node,
                               .nodes = rows[0]->nodes,
                               .element_bytes = rows[0]->element_bytes};
    memcpy(key.system, rows[0]->system, sizeof key.system);
    memcpy(key.variant, rows[0]->variant, sizeof key.variant);
    pace_curve_point *points = pace_alloc(count, sizeof *points);
    pace_curve_point *sizes = pace_alloc(count, sizeof *sizes);
    size_t *chosen = pace_alloc(count + 1, sizeof *chosen);
    pace_status status = points && sizes && chosen ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) {
        for (size_t i = 0; i < count; i++)
            points[i] = (pace_curve_point){rows[i]->bytes, rows[i]->time_s - rows[i]->call_s};
        if (probes > 0) count = keep_probes(points, count, sizes, chosen, (size_t)probes);
        if (count > 0) status = pace_exchange_fit_add(fit, &key, points, count);
    }
    PACE_FREE(points, sizes, chosen);
    return status;
}

static pace_status add_curves(pace_exchange_fit *fit, const pace_exchange_row **rows, size_t count, int probes) {
    if (count > 0) qsort(rows, count, sizeof *rows, by_curve);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && same_curve(rows[end], rows[i])) end++;
        PACE_TRY(add_curve(fit, rows + i, end - i, probes));
        i = end;
    }
    if (fit->curves.count > 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "no measured times: expected a column such as time_us, latency_ms or algbw_GBs");
}

pace_status pace_exchange_rows_fit(pace_exchange_fit *out, const pace_exchange_rows *tables, size_t count, int probes,
                                   bool (*keep)(void *context, size_t table, size_t row), void *context) {
    pace_exchange_fit fit = {.unit_s = tables[0].unit_s};
    PACE_VEC(const pace_exchange_row *) rows = {0};
    pace_status status = PACE_OK;
    memcpy(fit.unit, tables[0].unit, sizeof fit.unit);
    for (size_t t = 0; t < count && status == PACE_OK; t++)
        for (size_t i = 0; i < tables[t].rows.count && status == PACE_OK; i++)
            if (usable(&tables[t].rows.items[i]) && (!keep || keep(context, t, i)))
                status = PACE_PUSH(&rows, &tables[t].rows.items[i]);
    if (status == PACE_OK) status = add_curves(&fit, rows.items, rows.count, probes);
    PACE_VEC_FREE(&rows);
    return PACE_GIVE(out, fit, status, pace_exchange_fit_free(&fit));
}
