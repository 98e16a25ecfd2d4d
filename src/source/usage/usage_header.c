#include "source/usage/usage_header.h"
#include "base/decimal.h"
#include "base/text.h"
#include "source/usage/usage_words.h"

/* What follows a name is a unit, or nothing. */
static bool is_unit(double *unit, const char *rest, const char *end, const pace_yaml_node *units) {
    rest = pace_first_letter(rest, end);
    if (rest == end) return true;
    PACE_YAML_EACH (one, units)
        if (pace_same_letters(rest, (size_t)(end - rest), pace_yaml_key_of(one)))
            return pace_number_parse(unit, pace_yaml_text(one));
    return false;
}

static bool is_called(double *unit, const pace_usage_mapping *m, pace_usage_text cell, const char *name,
                      const pace_yaml_node *units) {
    *unit = 1;
    if (!m->loose) return pace_span_is(cell.data, cell.length, name);
    const char *end = cell.data + cell.length, *rest = pace_behind_letters(cell.data, end, name);
    return rest && is_unit(unit, rest, end, units);
}

static int find(double *unit, const pace_usage_mapping *m, const pace_usage_cells *header, const char *name,
                const pace_yaml_node *units) {
    for (size_t i = 0; name && i < header->count && i < PACE_USAGE_MOST_CELLS; i++)
        if (is_called(unit, m, pace_usage_trim(header->cells[i]), name, units)) return (int)i;
    return -1;
}

int pace_usage_cell_named(const pace_usage_mapping *mapping, const pace_usage_cells *header, const char *name) {
    double unit;
    return find(&unit, mapping, header, name, NULL);
}

int pace_usage_cell_of_field(double *unit, const pace_usage_mapping *mapping, const pace_usage_cells *header,
                             pace_usage_field field) {
    const pace_usage_column *column = &mapping->fields[field];
    int at = -1;
    for (size_t i = 0; i < column->name_count && at < 0; i++)
        at = find(unit, mapping, header, column->names[i], column->units);
    if (at < 0 || !column->units) *unit = 1;
    *unit *= column->unit;
    return at;
}
