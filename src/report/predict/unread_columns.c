#include "report/predict/unread_columns.h"

#include "base/print.h"

enum { COLUMNS_NAMED = 12 };

static bool says_something(const pace_csv *csv, size_t column) {
    for (size_t row = 0; row < csv->rows; row++)
        if (*pace_csv_cell(csv, row, column)) return true;
    return false;
}

pace_status pace_unread_columns_add(pace_unread_columns *to, const pace_csv *csv, const bool *looked) {
    for (size_t c = 0; c < csv->columns; c++) {
        const char *name = pace_csv_name(csv, c);
        bool listed = pace_word_number(to->names.items, to->names.count, name) >= 0;
        if (!looked[c] && *name && !listed && says_something(csv, c)) PACE_TRY(PACE_PUSH(&to->names, name));
    }
    return PACE_OK;
}

void pace_warn_of_unread_columns(pace_report *report, const pace_unread_columns *unread) {
    char names[COLUMNS_NAMED * 44] = "", more[40] = "";
    size_t count = unread->names.count;
    for (size_t i = 0; i < count && i < COLUMNS_NAMED; i++)
        pace_list(names, sizeof names, ", ", "%.40s", unread->names.items[i]);
    if (count > COLUMNS_NAMED) pace_snprintf(more, sizeof more, " and %zu more", count - COLUMNS_NAMED);
    if (count > 0)
        pace_report_warn(report, PACE_WARN_COLUMN_UNREAD, NULL, "column%s %s%s %s not read", count == 1 ? "" : "s",
                         names, more, count == 1 ? "is" : "are");
}

void pace_unread_columns_free(pace_unread_columns *unread) { PACE_VEC_FREE(&unread->names); }
