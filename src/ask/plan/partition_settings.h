/* "KEY=VALUE" words about a network partitioned over hosts: those of the sharing, and parameters of the model. */
#pragma once

#include "base/texts.h"
#include "base/words.h"
#include "plan/partition_search.h"

typedef struct {
    pace_partition_fixed fixed;
    double segments[PACE_PARTITION_LAYERS]; /* as said: one for all layers, or one each */
    size_t segment_count;                   /* 0 = not said */
    double global_batch, staleness;         /* 0 = not said */
    int exchange;                           /* a pace_partition_exchange; -1 = not said */
    pace_words others;                      /* of the model; borrowed words in `others_list` */
    PACE_VEC(const char *) others_list;
} pace_partition_settings;

/** Reads them. PACE_E_USAGE for what means nothing here, with what was expected. Free it, also after a failure. */
pace_status pace_partition_settings_read(pace_partition_settings *out, const pace_words *set) PACE_MUST_CHECK;
void pace_partition_settings_free(pace_partition_settings *settings);
