#include "ask/plan/launcher_config.h"

#include "base/decimal.h"
#include "model/pipeline_turns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double pace_launcher_number(const pace_launcher_settings *file, const char *key, double otherwise) {
    const char *text = pace_launcher_says(file, key);
    double number;
    return text && pace_number_parse(&number, text) ? number : otherwise;
}

double pace_launcher_replicas(const pace_launcher_settings *file, double devices) {
    return devices / (pace_launcher_number(file, "tp", 1) * pace_launcher_number(file, "pp", 1) *
                      pace_launcher_number(file, "cp", 1));
}

/* Ranks that states are divided among, where the file says that there are copies; 0 = all that share a parameter. */
static double zero_group_of(const pace_launcher_settings *file, const pace_launcher_place *place,
                            const pace_config *config) {
    double ranks = pace_launcher_replicas(file, place->devices) * config->cp;
    double of_node = place->devices_of_node / config->tp;
    if (file->copies > 1) return ranks / file->copies;
    return file->sharded_in_node > 0 && of_node < ranks ? of_node : config->zero_group;
}

pace_status pace_launcher_config(pace_config *out, const pace_launcher_settings *file,
                                 const pace_launcher_place *place) {
    pace_config config = *place->asked;
    bool sharded = strcmp(place->framework, "fsdp") == 0; /* in any case */
    config.tp = config.pp = config.vpp = config.cp = config.ep = config.micro_batch = 1;
    config.zero_stage = sharded ? 3 : 0;
    if (!sharded) config.sequence_parallel = 0; /* a flag of its own */
    config.recompute = PACE_RECOMPUTE_NONE;
    config.schedule = PACE_SCHEDULE_1F1B;
    for (size_t i = 0; i < file->settings.count; i++) {
        const char *word = file->settings.items[i], *equals = strchr(word, '=');
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
        if (pace_config_has(key)) PACE_TRY(pace_config_set(&config, key, equals + 1));
    }
    if (file->recomputes_block > 0) config.recompute_layers = file->recomputed_layers;
    if (file->layers_of_chunk > 0) {
        double of_stages = config.pp * file->layers_of_chunk;
        bool ends = fmod(place->layers, of_stages) != 0 && fmod(place->layers + 2, of_stages) == 0;
        config.vpp = (place->layers + 2 * ends) / of_stages;
    }
    if (config.pp == 1)
        config.vpp = 1, config.schedule = PACE_SCHEDULE_1F1B; /* a schedule of a pipeline that is none */
    if (config.zero_stage > 0) config.zero_group = zero_group_of(file, place, &config);
    *out = config;
    return PACE_OK;
}
