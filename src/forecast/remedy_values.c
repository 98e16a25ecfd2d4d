#include "forecast/remedy_values.h"
#include "forecast/saving_bound.h"
#include "base/decimal.h"
#include "base/print.h"
#include "forecast/rank_batches.h"

#include <math.h>
#include <string.h>

/* As many as fetch faster than the rest of the step needs input, of the rank whose input takes the largest share. */
static double workers_of(const pace_remedy_setting *setting) {
    double most = 0;
    PACE_ITEMS (const pace_forecast_rank, rank, &setting->forecast->ranks) {
        double input_ns = pace_graph_stretches(&rank->graph).ns, rest_ns = rank->steps_ns - input_ns;
        if (!(input_ns > 0)) continue;
        double workers = rest_ns > 0 ? ceil(setting->headroom * input_ns / rest_ns) : setting->most_workers;
        most = fmax(most, fmin(workers, setting->most_workers));
    }
    return most;
}

/* Twice what the first rank computes at a time; 0 = nothing shows it. */
static double double_batch(const pace_remedy_setting *setting) {
    pace_batch_size size;
    if (pace_rank_batches_first(&size, setting->forecast, 0) != PACE_OK) return 0;
    return 2 * (double)size.samples;
}

bool pace_remedy_value_at(pace_remedy_value_text out, const pace_remedy_row *row, size_t turn,
                          const pace_remedy_setting *setting) {
    out[0] = '\0';
    if (row->value == PACE_REMEDY_LISTED) {
        const char *text =
            turn < pace_yaml_count(row->values) ? pace_yaml_text(pace_yaml_item(row->values, turn)) : NULL;
        if (text) pace_snprintf(out, sizeof(pace_remedy_value_text), "%s", text);
        return text != NULL;
    }
    if (turn > 0 || row->value == PACE_REMEDY_FLAG) return turn == 0;
    double number = row->value == PACE_REMEDY_WORKERS ? workers_of(setting) : double_batch(setting);
    pace_snprintf(out, sizeof(pace_remedy_value_text), "%.0f", number);
    return number > 0;
}

double pace_remedy_samples(const pace_remedy_row *row, const pace_forecast_edits *edits, const char *value) {
    double wanted;
    bool asked = row->what_if == &pace_if_batch && pace_number_parse(&wanted, value);
    return pace_saving_samples(asked ? wanted : 0, edits);
}

static size_t count_marks(const char *text, const char *mark) {
    size_t count = 0;
    for (const char *at = strstr(text, mark); at; at = strstr(at + 1, mark)) count++;
    return count;
}

pace_status pace_remedy_words(char **out, const char *text, const char *value) {
    static const char mark[] = "{value}";
    const char *put = value ? value : "";
    size_t room = strlen(text) + count_marks(text, mark) * strlen(put) + 1, used = 0;
    char *words = pace_alloc(room, 1);
    if (!words) return PACE_E_MEMORY;
    for (const char *at = strstr(text, mark); at; at = strstr(text, mark)) {
        used += (size_t)pace_snprintf(words + used, room - used, "%.*s%s", (int)(at - text), text, put);
        text = at + sizeof mark - 1;
    }
    pace_snprintf(words + used, room - used, "%s", text);
    *out = words;
    return PACE_OK;
}
