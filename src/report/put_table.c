#include "report/report_node.h"

/* The integer member of a row, of whatever width. False for members that are no integers. */
static bool integer_of(int64_t *out, pace_member member, const void *at) {
    switch (member) {
    case PACE_MEMBER_INT: *out = *(const int *)at; return true;
    case PACE_MEMBER_UINT: *out = *(const unsigned *)at; return true;
    case PACE_MEMBER_INT64: *out = *(const int64_t *)at; return true;
    case PACE_MEMBER_UINT64: *out = (int64_t) * (const uint64_t *)at; return true;
    case PACE_MEMBER_BYTE: *out = *(const unsigned char *)at; return true;
    default: return false;
    }
}

static void put_integer(pace_node *table, const pace_cell_source *cell, int64_t integer) {
    if (cell->words) pace_table_text(table, cell->words[integer]);
    else if (cell->member == PACE_MEMBER_INT64 && integer == PACE_NO_INT) pace_table_none(table);
    else if (cell->as == PACE_AS_KNOWN && integer <= 0) pace_table_none(table);
    else if (cell->as == PACE_AS_WHOLE && integer < 0) pace_table_none(table);
    else pace_table_int(table, integer);
}

static void put_real(pace_node *table, pace_conversion as, double real) {
    bool whole = as == PACE_AS_WHOLE || as == PACE_AS_NS;
    if (as == PACE_AS_KNOWN && !(real > 0)) real = NAN;
    if (as == PACE_AS_NS) real *= 1e9;
    if (as == PACE_AS_US) real *= 1e6;
    if (real != real || (whole && real < 0)) pace_table_none(table);
    else if (whole) pace_table_int(table, llround(real));
    else pace_table_real(table, real);
}

static void put_text(pace_node *table, pace_conversion as, const char *text) {
    pace_table_text(table, as == PACE_AS_KNOWN && text && !*text ? NULL : text);
}

static void put_estimate(pace_node *table, pace_conversion as, pace_estimate s) {
    switch (as) {
    case PACE_AS_LOW_NS: pace_table_int(table, pace_estimate_low_ns(s)); break;
    case PACE_AS_HIGH_NS: pace_table_int(table, pace_estimate_high_ns(s)); break;
    case PACE_AS_LOW_US: put_real(table, PACE_AS_US, pace_estimate_low(s)); break;
    case PACE_AS_HIGH_US: put_real(table, PACE_AS_US, pace_estimate_high(s)); break;
    default: put_real(table, as, s.median);
    }
}

static void put_member(pace_node *table, const pace_cell_source *cell, const void *row) {
    const void *at = (const char *)row + cell->offset;
    int64_t integer;
    if (integer_of(&integer, cell->member, at)) put_integer(table, cell, integer);
    else if (cell->member == PACE_MEMBER_REAL) put_real(table, cell->as, *(const double *)at);
    else if (cell->member == PACE_MEMBER_ESTIMATE) put_estimate(table, cell->as, *(const pace_estimate *)at);
    else put_text(table, cell->as, cell->member == PACE_MEMBER_CHARS ? at : *(const char *const *)at);
}

static bool has(unsigned flags, unsigned wanted) { return wanted == 0 || (flags & wanted) != 0; }

pace_node *pace_open_table(pace_node *parent, const pace_table *declared, unsigned flags) {
    return pace_open_table_as(parent, declared, flags, declared->title);
}

pace_node *pace_open_table_as(pace_node *parent, const pace_table *declared, unsigned flags, const char *title) {
    pace_column columns[PACE_TABLE_COLUMNS];
    size_t count = 0;
    for (const pace_table_column *c = declared->columns; c->key && count < PACE_TABLE_COLUMNS; c++)
        if (has(flags, c->only_if))
            columns[count++] = (pace_column){c->key, has(flags, c->shown_if) ? c->title : NULL, c->show};
    pace_audience audience = declared->hidden_when_empty ? PACE_FOR_JSON : declared->audience;
    pace_node *node = pace_node_table(parent, declared->key, title, audience, columns, count, declared->rows_shown);
    if (!node) return NULL;
    node->table->declared = declared;
    node->table->flags = flags;
    return node;
}

void pace_table_put(pace_node *node, const void *row) {
    if (!node) return;
    const pace_held_table *table = node->table;
    node->audience = table->declared->audience;
    pace_table_row(node);
    for (const pace_table_column *c = table->declared->columns; c->key; c++) {
        if (!has(table->flags, c->only_if)) continue;
        if (c->cell.put) c->cell.put(node, row);
        else put_member(node, &c->cell, row);
    }
}

void pace_put_table(pace_node *parent, const pace_table *declared, const void *rows, size_t count, size_t size) {
    pace_node *node = pace_open_table(parent, declared, 0);
    for (size_t i = 0; i < count; i++) pace_table_put(node, (const char *)rows + i * size);
}
