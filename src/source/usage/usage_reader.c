#include "source/usage/usage_reader.h"
#include "source/usage/usage_forms.h"

#include <string.h>

/* Percents and shares are taken for each other easily: utilisation is a percent in one counter, a share in the next. */
static void doubt_counters(pace_usage_reading *reading, const pace_usage_binding *b) {
    for (size_t i = 0; i < b->mapping->metric_count; i++) {
        const pace_usage_metric *m = &b->mapping->metrics[i];
        const pace_usage_metric_seen *seen = &b->seen[i];
        if (seen->beyond)
            pace_snprintf(reading->doubt, sizeof reading->doubt,
                          "%llu values of %s are above %g and count as none: are they in another unit?",
                          (unsigned long long)seen->beyond, m->name, m->most / m->unit);
        else if (m->unit < 1 && seen->parted && seen->largest <= 1)
            pace_snprintf(
                reading->doubt, sizeof reading->doubt,
                "no value of %s is above 1, and some are parts of 1: each counts as percent; are they shares?",
                m->name);
        if (*reading->doubt) return;
    }
}

pace_status pace_usage_read(pace_usage_reading *reading, pace_input *input, pace_usage_take_fn take, void *context) {
    pace_usage_stream stream = {.reading = reading, .input = input, .take = take, .context = context};
    stream.binding.mapping = reading->mapping;
    stream.binding.dates = reading->mapping->times.dates;
    pace_status status = reading->mapping->json ? pace_usage_read_json(&stream) : pace_usage_read_lines(&stream);
    if (status == PACE_OK) status = pace_usage_release(&stream);
    pace_usage_held_free(&stream.held);
    doubt_counters(reading, &stream.binding);
    reading->unknown_metrics = stream.binding.unknown_metrics;
    memcpy(reading->unknown_metric, stream.binding.unknown_metric, sizeof reading->unknown_metric);
    reading->bytes = pace_input_stored_bytes(input);
    return status;
}
