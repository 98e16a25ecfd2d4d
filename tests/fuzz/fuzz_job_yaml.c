/* Fuzz target of jobs.yaml and of fits of jobs: any bytes are refused, or give figures that can be, of which a machine
 * can be made. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fleet/fleet_questions.h"
#include "base/words.h"
#include "fleet/job_fit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const pace_job_catalog *catalog) {
    const pace_job_setting_words words = {.efficiency = "0.5"};
    const pace_words none = {0};
    pace_job_setting setting;
    pace_fleet_questions questions;
    for (size_t i = 0; i < catalog->machines.count; i++)
        for (int f = 0; f < PACE_FIGURES; f++)
            if (!(catalog->machines.items[i].figure[f] > 0)) abort();
    if (pace_job_setting_parse(&setting, catalog, &words) != PACE_OK) return;
    if (pace_fleet_questions_make(&questions, &setting, &none, &none) != PACE_OK) return;
    for (size_t q = 0; q < questions.items.count; q++)
        for (int p = 0; p < PACE_JOB_PARTS; p++)
            if (!(questions.items.items[q].change.factor[p] >= 0)) abort();
    pace_fleet_questions_free(&questions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_job_catalog catalog;
    pace_job_fit fit;
    pace_yaml *yaml;
    if (pace_yaml_parse(&yaml, "fuzz", data, size) != PACE_OK) return 0;
    if (pace_job_fit_read(&fit, yaml) == PACE_OK)
        for (int r = 0; r < PACE_JOB_RESOURCES; r++)
            if (!(fit.efficiency[r] > 0 && fit.efficiency[r] <= 1)) abort();
    if (pace_job_catalog_read(&catalog, yaml) == PACE_OK) {
        ask(&catalog);
        pace_job_catalog_free(&catalog);
    }
    pace_yaml_free(yaml);
    return 0;
}
