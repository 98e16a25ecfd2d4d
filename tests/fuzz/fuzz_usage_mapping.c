/* Fuzz target of mapping files: one that can be read reads two small tables and a document. */
#include "usage_of_fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const texts[] = {
        "JobID|User|State|Elapsed|AllocTRES\n1|a|COMPLETED|01:00:00|gres/gpu:a100=2,gres/gpu=3\n2.0|b|X Y|1|gres/gpu=1\n",
        "nr;who;cards\n1;\"a;b\"\"\";2\n2;c;x\n",
        "[{\"a\":1,\"b\":[{\"c\":\"2026-01-01T00:00:00Z\",\"d\":[1,2]},{\"c\":3}]},4,{\"metric\":{\"gpu\":0},\"values\":[[1,\"2\"]]}]"};
    pace_yaml *yaml;
    pace_usage_mapping mapping;
    if (pace_yaml_parse(&yaml, "fuzz", data, size) != PACE_OK) return 0;
    if (pace_usage_mapping_read(&mapping, yaml) == PACE_OK)
        for (int i = 0; i < 3; i++) read_usage(&mapping, (const uint8_t *)texts[i], strlen(texts[i]));
    pace_yaml_free(yaml);
    return 0;
}
