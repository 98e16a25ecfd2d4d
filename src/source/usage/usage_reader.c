#include "source/usage/usage_reader.h"
#include "source/usage/usage_forms.h"

pace_status pace_usage_read(pace_usage_reading *reading, pace_input *input, pace_usage_take_fn take, void *context) {
    pace_usage_stream stream = {.reading = reading, .input = input, .take = take, .context = context};
    stream.binding.mapping = reading->mapping;
    stream.binding.dates = reading->mapping->times.dates;
    pace_status status = reading->mapping->json ? pace_usage_read_json(&stream) : pace_usage_read_lines(&stream);
    if (status == PACE_OK) status = pace_usage_release(&stream);
    pace_usage_held_free(&stream.held);
    reading->bytes = pace_input_stored_bytes(input);
    return status;
}
