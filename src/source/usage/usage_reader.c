#include "source/usage/usage_reader.h"
#include "source/usage/usage_forms.h"

pace_status pace_usage_read(pace_usage_reading *out, pace_input *input, const pace_usage_mapping *mapping,
                            pace_usage_take_fn take, void *context) {
    *out = (pace_usage_reading){.mapping = mapping};
    pace_usage_stream stream = {.reading = out, .input = input, .take = take, .context = context};
    stream.binding.mapping = mapping;
    pace_status status = mapping->json ? pace_usage_read_json(&stream) : pace_usage_read_lines(&stream);
    out->bytes = pace_input_stored_bytes(input);
    return status;
}
