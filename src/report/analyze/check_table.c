#include "report/analyze/analyze_parts.h"

typedef struct {
    const char *name, *holds, *text;
} check_row;

PACE_TABLE(checks, "checks", "Checks", PACE_FOR_ALL, 0, {"name", "check", PACE_SHOW_TEXT, PACE_OF(check_row, name)},
           {"holds", "holds", PACE_SHOW_TEXT, PACE_OF(check_row, holds)},
           {"text", "found", PACE_SHOW_TEXT, PACE_OF(check_row, text)});

pace_node *pace_open_checks(pace_node *root) { return pace_open_table(root, &checks, 0); }

void pace_put_check(pace_node *table, const char *name, bool holds, const char *found) {
    pace_table_put(table, &(check_row){name, holds ? "yes" : "no", found});
}
