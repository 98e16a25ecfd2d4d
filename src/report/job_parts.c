#include "report/job_parts.h"

/* A fit knows what its rows ran on where they did not say. */
static pace_status set(pace_job_setting *out, const pace_job_catalog *catalog, const pace_job_assumptions *assume) {
    pace_job_setting_words words = {assume->on, assume->overlap, assume->contention, assume->nvlink,
                                    assume->efficiency};
    pace_job_fit fit = {0};
    if (assume->fit_path && assume->efficiency)
        return pace_fail(PACE_E_USAGE, "--fit and --efficiency both say what jobs reach: expected one of them");
    if (assume->fit_path) PACE_TRY(pace_job_fit_load(&fit, assume->fit_path));
    if (!words.on && *fit.machine) words.on = fit.machine;
    PACE_TRY(pace_job_setting_parse(out, catalog, &words));
    if (assume->fit_path) pace_job_fit_apply(out, &fit);
    return PACE_OK;
}

pace_status pace_job_assume(pace_job_setting *out, pace_job_catalog *catalog, const pace_job_assumptions *assume) {
    PACE_TRY(pace_job_catalog_load(catalog));
    pace_status status = set(out, catalog, assume);
    if (status != PACE_OK) pace_job_catalog_free(catalog);
    return status;
}

static const pace_column figure_columns[] = {
    {"figure", "Figure", PACE_SHOW_TEXT},
    {"value", "Value", PACE_SHOW_REAL},
    {"confidence", "Confidence", PACE_SHOW_TEXT},
    {"source", "Source", PACE_SHOW_TEXT},
};

static void put_figures(pace_node *parent, const pace_job_machine *machine) {
    pace_node *table =
        pace_node_table(parent, "figures", "What was assumed", PACE_FOR_ALL, PACE_COLUMNS(figure_columns), 0);
    for (int i = 0; i < PACE_FIGURES; i++) {
        pace_table_row(table);
        pace_table_text(table, pace_job_figure_names[i]);
        pace_table_real(table, machine->figure[i]);
        pace_table_text(table, machine->source[i].confidence);
        pace_table_text(table, machine->source[i].source);
    }
}

void pace_put_job_setting(pace_node *parent, const pace_job_setting *setting) {
    static const char *const contention[] = {"none", "projected", "all"};
    pace_node *object = pace_node_object(parent, "assumed", NULL, PACE_FOR_ALL);
    pace_node_text(object, "machine", setting->machine.name);
    pace_node_real(object, "overlap", setting->overlap);
    pace_node_text(object, "contention", contention[setting->contention]);
    pace_node_text(object, "nvlink", setting->nvlink_aggregate ? "aggregate" : "link");
    pace_node_real(object, "spread", setting->spread);
    pace_node_text(object, "rung", pace_rung_names[setting->rung]);
    put_figures(object, &setting->machine);
}
