#include "ask/fit_findings.h"

void pace_found_held_out(pace_findings *findings, const pace_held_out *score) {
    static const pace_found_column columns[] = {
        {"rows", "Rows", PACE_HOLDS_INT},
        {"formula_mape", "MAPE by formula", PACE_HOLDS_SHARE},
        {"mape", "MAPE held out", PACE_HOLDS_SHARE},
        {"signed_mean", "Signed mean", PACE_HOLDS_SHARE},
        {"largest", "Largest", PACE_HOLDS_SHARE},
        {"coverage", "In 90 % interval", PACE_HOLDS_SHARE},
    };
    double figures[] = {(double)score->rows, score->formula_mape, score->mape,
                        score->signed_mean,  score->largest,      score->coverage};
    pace_found_table(findings, "score", "Error on rows that were held out", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) pace_found_cell_number(findings, figures[i]);
}

void pace_found_factors(pace_findings *findings) {
    static const pace_found_column columns[] = {{"factor", "What was fitted", PACE_HOLDS_TEXT},
                                                {"value", "Value", PACE_HOLDS_REAL}};
    pace_found_table(findings, "factors", "Factors", columns, 2);
}

void pace_found_groups(pace_findings *findings) {
    static const pace_found_column columns[] = {{"group", "What is left, by group", PACE_HOLDS_TEXT},
                                                {"rows", "Rows", PACE_HOLDS_INT},
                                                {"factor", "Factor", PACE_HOLDS_REAL}};
    pace_found_table(findings, "groups", "Groups", columns, 3);
}
