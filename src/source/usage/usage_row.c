#include "source/usage/usage_row.h"
#include "base/decimal.h"
#include "base/text.h"
#include "source/usage/usage_words.h"

#include <math.h>
#include <string.h>

static const char *wanted_of(pace_usage_cell cell, pace_usage_text text) {
    static const char *const expected[] = {[PACE_USAGE_TEXT] = "a text",
                                           [PACE_USAGE_NUMBER] = "a number",
                                           [PACE_USAGE_DURATION] = "a duration such as 1-02:03:04"};
    return cell == PACE_USAGE_TIME ? pace_usage_time_wanted(text) : expected[cell];
}

static bool refuse(char why[PACE_USAGE_WHY], const char *name, const char *wanted, pace_usage_text found) {
    pace_snprintf(why, PACE_USAGE_WHY, "%.40s: expected %s, found \"%.*s\"", name, wanted,
                  (int)(found.length < 40 ? found.length : 40), found.data);
    return false;
}

static const pace_usage_text nothing = {"", 0};

/* The cell of a field, cut as its column says; empty for one that says that there is no value. */
static pace_usage_text cell_of(const pace_usage_binding *b, int at, const char *before, const pace_usage_text *cells) {
    if (at < 0) return nothing;
    pace_usage_text text = pace_usage_trim(cells[at]);
    if (text.length == 0 || pace_usage_is_missing(b->mapping, text)) return nothing;
    for (size_t i = 0; before && i < text.length; i++)
        if (strchr(before, text.data[i])) text.length = i;
    return text;
}

static bool read_time(pace_usage_row *row, double *out, pace_usage_text text, const pace_usage_binding *b) {
    bool zoned;
    const pace_usage_mapping *m = b->mapping;
    if (!pace_usage_time(out, &zoned, text, &(pace_usage_times){m->times.zones, b->dates})) return false;
    if (!zoned && !isnan(m->zone_s)) *out -= m->zone_s;
    row->zoneless |= !zoned && isnan(m->zone_s);
    row->zoned |= zoned;
    row->year_last |= pace_usage_year_is_last(text);
    return true;
}

/* GPUs and the like are whole, so that a comma in them parts thousands. */
static bool read_amount(double *out, pace_usage_field field, pace_usage_text text) {
    bool counts = field >= PACE_USAGE_GPUS && field <= PACE_USAGE_SHARES;
    return pace_usage_number(out, text) || (counts && pace_thousands_parse(out, text.data, text.length));
}

/* "7200", and "2:30", which may be hours and minutes, or minutes and seconds. */
static bool says_no_unit(pace_usage_text text) {
    double number;
    const char *colon = memchr(text.data, ':', text.length), *end = text.data + text.length;
    return pace_usage_number(&number, text) || (colon && !memchr(colon + 1, ':', (size_t)(end - colon - 1)));
}

/* In the field's unit, of which one of the column is `unit`; clocks say theirs themselves. */
static bool read_number(pace_usage_row *row, pace_usage_field field, pace_usage_text text, double unit,
                        const pace_usage_binding *b) {
    pace_usage_cell cell = pace_usage_fields[field].cell;
    double *out = &row->number[field];
    if (cell == PACE_USAGE_DURATION) {
        row->unitless |= b->unitless && says_no_unit(text);
        return pace_usage_duration(out, text, unit);
    }
    bool good = cell == PACE_USAGE_TIME ? read_time(row, out, text, b) : read_amount(out, field, text);
    *out *= unit;
    return good;
}

static bool has_word(pace_usage_text text, const char *word) {
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= text.length; i++)
        if (pace_strncasecmp(text.data + i, word, length) == 0) return true;
    return false;
}

double pace_usage_share(pace_usage_text model, const pace_yaml_node *slices) {
    int own = pace_usage_slices(model);
    double all = NAN;
    for (size_t i = 0; own && i < pace_yaml_count(slices) && isnan(all); i++)
        if (has_word(model, pace_yaml_key(slices, i)) &&
            !pace_number_parse(&all, pace_yaml_text(pace_yaml_item(slices, i))))
            all = NAN;
    return own && own < all ? own / all : 1;
}

/* Of a list of which several names count: "gres/shard gres/mps". The first that is there has its models. */
static bool read_names(double *total, pace_usage_gpus *gpus, size_t *kinds, pace_usage_text text, const char *names) {
    char name[32];
    double all = 0, one;
    *kinds = 0;
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        pace_usage_gpus more[PACE_USAGE_KINDS_OF_GPU];
        size_t count;
        length = strcspn(names, " ");
        pace_snprintf(name, sizeof name, "%.*s", (int)length, names);
        if (!pace_usage_list(&one, *kinds ? more : gpus, &count, text, name)) return false;
        if (*kinds == 0) *kinds = count;
        all += one;
    }
    *total = all;
    return true;
}

static bool read_list(pace_usage_row *out, pace_usage_field field, const pace_usage_column *column,
                      pace_usage_text text) {
    size_t kinds;
    pace_usage_gpus gpus[PACE_USAGE_KINDS_OF_GPU];
    if (strcmp(column->list, "brackets") == 0) return pace_usage_brackets(&out->number[field], text);
    if (strcmp(column->list, "ranges") == 0) return pace_usage_ranges(&out->number[field], text);
    if (!read_names(&out->number[field], gpus, &kinds, text, column->list)) return false;
    for (size_t i = 0; i < kinds; i++) {
        double share = pace_usage_share(gpus[i].model, column->slices);
        out->number[field] -= gpus[i].count * (1 - share);
        gpus[i].count *= share;
    }
    if (kinds == 0 || out->gpu_kinds > 0) return true;
    memcpy(out->gpus, gpus, kinds * sizeof *gpus);
    out->gpu_kinds = kinds;
    return true;
}

static bool read_field(pace_usage_row *out, char why[PACE_USAGE_WHY], const pace_usage_binding *b, int field,
                       const pace_usage_text *cells) {
    const pace_usage_column *column = &b->mapping->fields[field];
    pace_usage_text text = cell_of(b, b->field[field], column->before, cells);
    pace_usage_cell cell = pace_usage_fields[field].cell;
    out->text[field] = text;
    out->number[field] = NAN;
    if (text.length == 0 || cell == PACE_USAGE_TEXT) return true;
    bool good = column->list ? read_list(out, (pace_usage_field)field, column, text)
                             : read_number(out, (pace_usage_field)field, text, b->unit[field], b);
    if (column->list) out->number[field] *= b->unit[field];
    bool can_be = cell == PACE_USAGE_TIME || out->number[field] >= 0;
    bool blank = field == PACE_USAGE_VALUE; /* drivers write vast numbers for counters that have no value */
    if (good && (blank || (can_be && fabs(out->number[field]) < 1e15))) return true;
    return refuse(why, pace_usage_fields[field].name, wanted_of(cell, text), text);
}

/* Values that are too large by up to this factor may be of another unit (percent, milliwatts); drivers write vaster
 * numbers for "blank". */
static const double other_unit = 1000;

/* A value of a metric in its field's unit; NAN for one that cannot be. */
static double metric_value(pace_usage_binding *b, size_t metric, double value) {
    const pace_usage_metric *m = &b->mapping->metrics[metric];
    pace_usage_metric_seen *seen = &b->seen[metric];
    double in_ours = value * m->unit;
    bool can_be = in_ours >= 0 && in_ours <= m->most;
    if (can_be) seen->largest = fmax(seen->largest, value);
    seen->parted |= can_be && value != floor(value);
    seen->beyond += in_ours > m->most && in_ours <= m->most * other_unit;
    return can_be ? in_ours : NAN;
}

/* A counter that has a column of its own, perhaps with its unit in each cell ("87 %"). Impossible values count as none:
 * drivers write them for "blank". */
static void read_metrics(pace_usage_row *out, pace_usage_binding *b, const pace_usage_text *cells) {
    for (size_t i = 0; i < b->mapping->metric_count; i++) {
        const pace_usage_metric *metric = &b->mapping->metrics[i];
        pace_usage_text text = cell_of(b, b->metric[i], " ", cells);
        double value;
        if (metric->device || text.length == 0 || !pace_usage_number(&value, text)) continue;
        value = metric_value(b, i, value);
        if (!isnan(value)) out->number[metric->field] = value;
    }
}

/* A counter that a row names. */
static void read_named_metric(pace_usage_row *out, pace_usage_binding *b) {
    pace_usage_text name = out->text[PACE_USAGE_METRIC];
    const pace_usage_metric *metric = pace_usage_metric_named(b->mapping, name);
    if (!metric && b->unknown_metrics++ == 0)
        pace_snprintf(b->unknown_metric, sizeof b->unknown_metric, "%.*s", (int)(name.length < 60 ? name.length : 60),
                      name.data);
    if (!metric) return;
    double value = metric_value(b, (size_t)(metric - b->mapping->metrics), out->number[PACE_USAGE_VALUE]);
    if (!isnan(value)) out->number[metric->field] = value;
}

static bool is_state(const pace_usage_mapping *m, pace_usage_text text, const char *state) {
    return m->loose ? pace_same_letters(text.data, text.length, state) : pace_span_is(text.data, text.length, state);
}

static void read_state(pace_usage_row *out, const pace_usage_binding *b) {
    pace_usage_text text = out->text[PACE_USAGE_STATE];
    const pace_yaml_node *states = b->mapping->states;
    out->state = PACE_STATE_OTHER;
    out->state_known = false;
    PACE_YAML_EACH (one, states) {
        if (!is_state(b->mapping, text, pace_yaml_key_of(one))) continue;
        const char *word = pace_yaml_text(one);
        for (int s = 0; word && s < PACE_STATES; s++)
            if (strcmp(word, pace_usage_state_names[s]) == 0) out->state = (pace_usage_state)s;
        out->state_known = true;
        return;
    }
}

static bool is_skipped(const pace_usage_binding *b, const pace_usage_text *cells) {
    if (b->skip < 0 || !b->mapping->skip_having) return false;
    const char *having = b->mapping->skip_having;
    size_t length = strlen(having);
    pace_usage_text text = cells[b->skip];
    for (size_t i = 0; length && i + length <= text.length; i++)
        if (memcmp(text.data + i, having, length) == 0) return true;
    return false;
}

pace_usage_verdict pace_usage_row_read(pace_usage_row *out, char why[PACE_USAGE_WHY], pace_usage_binding *binding,
                                       const pace_usage_text *cells) {
    if (is_skipped(binding, cells)) return PACE_ROW_SKIPPED;
    out->gpu_kinds = 0;
    out->unitless = out->zoneless = out->zoned = out->year_last = false;
    for (int field = 0; field < PACE_USAGE_FIELDS; field++)
        if (!read_field(out, why, binding, field, cells)) return PACE_ROW_REFUSED;
    if (out->gpu_kinds == 0) /* where all GPUs of a node are cut alike, only their model tells */
        out->number[PACE_USAGE_GPUS] *=
            pace_usage_share(out->text[PACE_USAGE_GPU], binding->mapping->fields[PACE_USAGE_GPUS].slices);
    read_state(out, binding);
    read_metrics(out, binding, cells);
    if (binding->mapping->fields[PACE_USAGE_METRIC].name_count) read_named_metric(out, binding);
    return PACE_ROW_TAKEN;
}

pace_date_order pace_usage_row_dates(bool *either, const pace_usage_binding *binding, const pace_usage_text *cells) {
    *either = false;
    for (int f = 0; f < PACE_USAGE_FIELDS; f++) {
        bool open;
        if (pace_usage_fields[f].cell != PACE_USAGE_TIME) continue;
        pace_usage_text text = cell_of(binding, binding->field[f], binding->mapping->fields[f].before, cells);
        pace_date_order order = pace_usage_date_tells(&open, text);
        if (order != PACE_DATES_UNSAID) return order;
        *either |= open;
    }
    return PACE_DATES_UNSAID;
}

bool pace_usage_row_of_device(pace_usage_row *row, pace_usage_binding *binding, size_t metric,
                              const pace_usage_text *cells) {
    const pace_usage_metric *m = &binding->mapping->metrics[metric];
    pace_usage_text text = m->device ? cell_of(binding, binding->metric[metric], NULL, cells) : nothing;
    double value;
    if (text.length == 0 || !pace_usage_number(&value, text)) return false;
    value = metric_value(binding, metric, value);
    if (isnan(value)) return false;
    for (int f = PACE_USAGE_COUNTERS_FROM; f < PACE_USAGE_FIELDS; f++) row->number[f] = NAN;
    row->number[m->field] = value;
    row->text[PACE_USAGE_DEVICE] = (pace_usage_text){m->device, strlen(m->device)};
    return true;
}
