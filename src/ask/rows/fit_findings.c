#include "ask/rows/fit_findings.h"

#include <math.h>

void pace_found_held_out(pace_findings *findings, const pace_held_out *score) {
    static const pace_column columns[] = {
        {"rows", "Rows", PACE_SHOW_INT},
        {"formula_mape", "MAPE by formula", PACE_SHOW_SHARE},
        {"mape", "MAPE held out", PACE_SHOW_SHARE},
        {"signed_mean", "Signed mean", PACE_SHOW_SHARE},
        {"largest", "Largest", PACE_SHOW_SHARE},
        {"coverage", "In 90 % interval", PACE_SHOW_SHARE},
    };
    pace_found_table(findings, "score", "Error on rows that were held out", PACE_COLUMNS(columns));
    PACE_FOUND_NUMBERS(findings, (double)score->rows, score->formula_mape, score->mape, score->signed_mean,
                       score->largest, score->coverage);
}

void pace_found_factors(pace_findings *findings) {
    static const pace_column columns[] = {{"factor", "What was fitted", PACE_SHOW_TEXT},
                                          {"value", "Value", PACE_SHOW_REAL}};
    pace_found_table(findings, "factors", "Factors", columns, 2);
}

void pace_found_groups(pace_findings *findings, const char *key, const char *title, const pace_fit_group *groups,
                       unsigned count) {
    static const pace_column columns[] = {{"group", "Of", PACE_SHOW_TEXT},
                                          {"rows", "Rows", PACE_SHOW_INT},
                                          {"factor", "Factor", PACE_SHOW_REAL}};
    pace_found_table(findings, key, title, PACE_COLUMNS(columns));
    for (unsigned i = 0; i < count; i++) {
        pace_found_cell_text(findings, groups[i].name);
        PACE_FOUND_NUMBERS(findings, groups[i].rows, exp(groups[i].log_offset));
    }
}
