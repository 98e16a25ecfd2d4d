#include "report/fleet/job_parts.h"
#include "report/table.h"

typedef struct {
    const char *figure, *confidence, *source;
    double value;
} figure;

PACE_TABLE(figures, "figures", "Assumptions", PACE_FOR_ALL, 0,
           {"figure", "Figure", PACE_SHOW_TEXT, PACE_OF(figure, figure)},
           {"value", "Value", PACE_SHOW_REAL, PACE_OF(figure, value)},
           {"confidence", "Confidence", PACE_SHOW_TEXT, PACE_OF(figure, confidence)},
           {"source", "Source", PACE_SHOW_TEXT, PACE_OF(figure, source)});

static void put_figures(pace_node *parent, const pace_job_machine *machine) {
    pace_node *table = pace_open_table(parent, &figures, 0);
    for (int i = 0; i < PACE_FIGURES; i++)
        pace_table_put(table, &(figure){pace_job_figure_names[i], machine->source[i].confidence,
                                        machine->source[i].source, machine->figure[i]});
}

void pace_put_job_setting(pace_node *parent, const pace_job_setting *setting) {
    pace_node *object = pace_node_object(parent, "assumed", NULL, PACE_FOR_ALL);
    pace_node_text(object, "machine", setting->machine.name);
    pace_node_real(object, "overlap", setting->overlap);
    pace_node_text(object, "contention", pace_job_contentions[setting->contention]);
    pace_node_text(object, "nvlink", pace_job_nvlinks[setting->nvlink_aggregate]);
    pace_node_real(object, "spread", setting->spread);
    pace_node_text(object, "rung", pace_rung_names[setting->rung]);
    put_figures(object, &setting->machine);
}
