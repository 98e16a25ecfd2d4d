/* Records as lines of separated values, with a header or with columns that the mapping names. */
#include "source/usage/usage_forms.h"
#include "source/usage/usage_header.h"
#include "source/usage/usage_samples.h"
#include "source/usage/usage_words.h"
#include "base/print.h"
#include "base/text.h"

#include <string.h>

enum { WINDOW = 1 << 17, LONGEST_LINE = 1 << 24 };

/* A window of the input; lines are cut out of it. */
typedef struct {
    pace_usage_stream *stream;
    PACE_VEC(char) window;
    pace_text header;
    size_t from, to; /* what is not read yet */
    bool ended;
    uint64_t line;
    size_t columns;
    int parts; /* the cell that says how many parts a job has, where no field is it; -1 = none does */
    pace_usage_cells cells;
} lines;

/* Reads on behind what is left, which moves to the window's start. */
static pace_status fill(lines *l) {
    size_t left = l->to - l->from, room = pace_input_room(l->stream->input, WINDOW), got = 0;
    if (left >= LONGEST_LINE)
        return pace_fail(PACE_E_LIMIT, "%s:%llu: the line is longer than %d bytes", pace_input_name(l->stream->input),
                         (unsigned long long)l->line + 1, LONGEST_LINE);
    PACE_TRY(pace_grow(&l->window.items, &l->window.capacity, left + room, 1));
    if (left) memmove(l->window.items, l->window.items + l->from, left);
    l->from = 0;
    l->to = left;
    pace_status status = pace_input_read(l->stream->input, l->window.items + left, room, &got);
    l->to += status == PACE_OK ? got : 0;
    l->ended = status != PACE_OK || got == 0;
    return status;
}

/* The next line; false at the end. What a failing input delivered before counts. */
static bool next_line(pace_status *status, char **line, size_t *length, lines *l) {
    *status = PACE_OK;
    size_t seen = 0;
    while (!l->ended &&
           !(l->to > l->from + seen && memchr(l->window.items + l->from + seen, '\n', l->to - l->from - seen))) {
        seen = l->to - l->from;
        if ((*status = fill(l)) != PACE_OK) return false;
    }
    if (l->from == l->to) return false;
    char *next;
    *line = l->window.items + l->from;
    *length = (size_t)(pace_usage_line_end(&next, *line, l->window.items + l->to) - *line);
    l->from = (size_t)(next - l->window.items);
    l->line++;
    return true;
}

/* Fields that make a record useless when the file lacks their columns. */
static pace_status check_columns(const lines *l) {
    const pace_usage_binding *b = &l->stream->binding;
    static const pace_usage_field of_jobs[] = {PACE_USAGE_GPUS}, of_counters[] = {PACE_USAGE_AT, PACE_USAGE_DEVICE};
    bool jobs = b->mapping->of == PACE_USAGE_OF_JOBS, counters = b->mapping->of == PACE_USAGE_OF_COUNTERS;
    const pace_usage_field *needed = jobs ? of_jobs : of_counters;
    for (int i = 0; i < (jobs ? 1 : counters ? 2 : 0); i++)
        if (b->field[needed[i]] < 0 && !(needed[i] == PACE_USAGE_DEVICE && b->mapping->metrics[0].device))
            return pace_fail(PACE_E_INPUT, "%s:%llu: expected a column \"%s\" (%s of %s), found none",
                             pace_input_name(l->stream->input), (unsigned long long)l->line,
                             b->mapping->fields[needed[i]].names[0], pace_usage_fields[needed[i]].name,
                             b->mapping->title);
    return PACE_OK;
}

/* A column that is called a duration and nothing else. */
static bool lacks_unit(const lines *l) {
    const pace_usage_binding *b = &l->stream->binding;
    const pace_usage_column *column = &b->mapping->fields[PACE_USAGE_ELAPSED];
    for (size_t i = 0; column->units && b->field[PACE_USAGE_ELAPSED] >= 0 && i < column->name_count; i++)
        if (pace_usage_cell_named(b->mapping, &l->cells, column->names[i]) == b->field[PACE_USAGE_ELAPSED]) return true;
    return false;
}

/* Says which column was taken for what. A duration without a unit is checked against start and end. */
static void tell_columns(lines *l) {
    pace_usage_binding *b = &l->stream->binding;
    char *out = l->stream->reading->columns;
    bool used[PACE_USAGE_MOST_CELLS] = {false}, first = true;
    if (b->field[PACE_USAGE_START] >= 0 && b->field[PACE_USAGE_END] >= 0) b->field[PACE_USAGE_ELAPSED] = -1;
    for (int f = 0; f < PACE_USAGE_FIELDS; f++) {
        if (b->field[f] < 0) continue;
        pace_usage_text name = pace_usage_trim(l->cells.cells[b->field[f]]);
        used[b->field[f]] = true;
        pace_list(out, PACE_USAGE_REASON, ", ", "%s = %.*s", pace_usage_fields[f].name, (int)name.length, name.data);
    }
    for (size_t i = 0; i < l->cells.count && i < PACE_USAGE_MOST_CELLS; i++) {
        pace_usage_text name = pace_usage_trim(l->cells.cells[i]);
        if (used[i]) continue;
        pace_append(out, PACE_USAGE_REASON, "%s%.*s", first ? "; not read: " : ", ", (int)name.length, name.data);
        first = false;
    }
}

static bool is_bound(const pace_usage_binding *b, int cell) {
    for (int f = 0; f < PACE_USAGE_FIELDS; f++)
        if (b->field[f] == cell) return true;
    return false;
}

static void bind_parts(lines *l) {
    const pace_usage_mapping *m = l->stream->binding.mapping;
    l->parts = -1;
    PACE_YAML_EACH (one, m->parts) {
        int cell = pace_usage_cell_named(m, &l->cells, pace_yaml_text(one));
        if (cell < 0 || is_bound(&l->stream->binding, cell)) continue;
        pace_usage_text name = pace_usage_trim(l->cells.cells[cell]);
        pace_snprintf(l->stream->reading->parts, sizeof l->stream->reading->parts, "%.*s", (int)name.length, name.data);
        l->parts = cell;
        return;
    }
}

static void count_parts(lines *l) {
    double number;
    if (l->parts >= 0 && pace_usage_number(&number, pace_usage_trim(l->cells.cells[l->parts])) && number > 1)
        l->stream->reading->in_parts++;
}

static pace_status bind(lines *l) {
    pace_usage_binding *b = &l->stream->binding;
    const pace_usage_mapping *m = b->mapping;
    for (int f = 0; f < PACE_USAGE_FIELDS; f++)
        b->field[f] = pace_usage_cell_of_field(&b->unit[f], m, &l->cells, (pace_usage_field)f);
    for (size_t i = 0; i < m->metric_count; i++) b->metric[i] = pace_usage_cell_named(m, &l->cells, m->metrics[i].name);
    b->skip = pace_usage_cell_named(m, &l->cells, m->skip_column);
    l->columns = l->cells.count;
    bind_parts(l);
    if (m->loose) tell_columns(l);
    b->unitless = lacks_unit(l);
    return check_columns(l);
}

static bool same_cells(const pace_usage_cells *cells, const pace_yaml_node *names) {
    if (cells->count != pace_yaml_count(names) || cells->count > PACE_USAGE_MOST_CELLS) return false;
    for (size_t i = 0; i < cells->count; i++) {
        const char *name = pace_yaml_text(pace_yaml_item(names, i));
        if (!name || !pace_span_is(cells->cells[i].data, cells->cells[i].length, name)) return false;
    }
    return true;
}

static void take_names(pace_usage_cells *out, const pace_yaml_node *names) {
    out->count = 0;
    for (size_t i = 0; i < pace_yaml_count(names) && i < PACE_USAGE_MOST_CELLS; i++) {
        const char *name = pace_yaml_text(pace_yaml_item(names, i));
        out->cells[out->count++] = (pace_usage_text){name ? name : "", name ? strlen(name) : 0};
    }
}

static bool is_comment(const char *line, size_t length) {
    return length == 0 || line[0] == '#' || (length == 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0);
}

/* The header's bytes, as they stand: the same line further down, where files were joined, is no row. */
static pace_status keep_header(lines *l, const char *line, size_t length) {
    l->header.count = 0;
    return pace_text_append(&l->header, line, length);
}

static pace_status row(lines *l, char *line, size_t length);

/* The first line that is no comment: a header, or with columns that the mapping names perhaps a row. */
static pace_status first_line(lines *l, char *line, size_t length) {
    const pace_usage_mapping *m = l->stream->binding.mapping;
    if (length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) line += 3, length -= 3;
    if (!m->columns) PACE_TRY(keep_header(l, line, length));
    pace_usage_cells *cells = &l->cells;
    if (m->columns) {
        PACE_TRY(keep_header(l, line, length)); /* a row whose cells are split again below */
        pace_usage_split(cells, line, length, l->stream->reading->separator);
        bool header = same_cells(cells, m->columns);
        take_names(cells, m->columns);
        PACE_TRY(bind(l));
        if (header) return PACE_OK;
        memcpy(line, l->header.items, length);
        l->header.count = 0;
        return row(l, line, length);
    }
    pace_usage_split(cells, line, length, l->stream->reading->separator);
    PACE_TRY(bind(l));
    return PACE_OK;
}

static pace_status row(lines *l, char *line, size_t length) {
    char why[PACE_USAGE_WHY];
    if (l->header.count && length == l->header.count && memcmp(line, l->header.items, length) == 0) return PACE_OK;
    pace_usage_split(&l->cells, line, length, l->stream->reading->separator);
    if (l->cells.count == l->columns && l->cells.count <= PACE_USAGE_MOST_CELLS) {
        count_parts(l);
        return pace_usage_deliver(l->stream, l->cells.cells, l->line);
    }
    l->stream->reading->rows++;
    pace_snprintf(why, sizeof why, "expected %zu cells, found %zu", l->columns, l->cells.count);
    pace_usage_refuse(l->stream, l->line, why);
    return PACE_OK;
}

/* Every field has a cell of its own. */
static void bind_samples(pace_usage_binding *b) {
    for (int f = 0; f < PACE_USAGE_FIELDS; f++) {
        b->field[f] = b->mapping->fields[f].name_count ? f : -1;
        b->unit[f] = b->mapping->fields[f].unit;
    }
    for (size_t i = 0; i < b->mapping->metric_count; i++) b->metric[i] = -1;
    b->skip = -1;
}

/* Samples of other metrics are no rows. An exporter's page has no times: it holds one instant, and so no GPU-hours. */
static pace_status sample(lines *l, char *line, size_t length) {
    pace_usage_sample s;
    char why[PACE_USAGE_WHY];
    const pace_usage_mapping *m = l->stream->binding.mapping;
    const char *expected = pace_usage_sample_read(&s, m, line, length);
    if (expected) {
        l->stream->reading->rows++;
        pace_snprintf(why, sizeof why, "expected %s", expected);
        pace_usage_refuse(l->stream, l->line, why);
        return PACE_OK;
    }
    if (!pace_usage_metric_named(m, s.cells.cells[PACE_USAGE_METRIC])) return PACE_OK;
    if (s.cells.cells[PACE_USAGE_AT].length == 0)
        return pace_fail(
            PACE_E_INPUT,
            "%s:%llu: expected a time behind the value, found none: an exporter's page is one instant, and "
            "GPU-hours need values over time, as Prometheus's query_range or \"promtool tsdb dump\" gives",
            pace_input_name(l->stream->input), (unsigned long long)l->line);
    return pace_usage_deliver(l->stream, s.cells.cells, l->line);
}

static pace_status read_samples(lines *l) {
    pace_status status = PACE_OK;
    char *line;
    size_t length;
    bind_samples(&l->stream->binding);
    while (status == PACE_OK && next_line(&status, &line, &length, l))
        if (!is_comment(line, length)) status = sample(l, line, length);
    return status;
}

static pace_status read_all(lines *l) {
    pace_status status = PACE_OK;
    bool first = true;
    char *line;
    size_t length;
    while (status == PACE_OK && next_line(&status, &line, &length, l)) {
        if (is_comment(line, length)) continue;
        status = first ? first_line(l, line, length) : row(l, line, length);
        first = false;
    }
    if (status == PACE_OK && first)
        return pace_fail(PACE_E_INPUT, "%s: expected rows, found none", pace_input_name(l->stream->input));
    return status;
}

pace_status pace_usage_read_lines(pace_usage_stream *stream) {
    lines *l = pace_alloc(1, sizeof *l);
    if (!l) return PACE_E_MEMORY;
    l->stream = stream;
    pace_status status = stream->binding.mapping->samples ? read_samples(l) : read_all(l);
    if (status != PACE_OK) status = pace_usage_broke_off(stream, status, l->line);
    PACE_VEC_FREE(&l->window, &l->header);
    pace_free(l);
    return status;
}
