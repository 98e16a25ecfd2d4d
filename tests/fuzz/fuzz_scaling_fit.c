/* Fuzz target of fits of scaling rows: any bytes become a fit whose factors can be used, or say why not. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "ask/rows/scaling_fit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_scaling_fit fit;
    pace_yaml *yaml;
    if (pace_yaml_parse(&yaml, "fit.json", data, size) != PACE_OK) return 0;
    pace_status status = pace_scaling_fit_read(&fit, yaml);
    pace_yaml_free(yaml);
    if (status != PACE_OK) return 0;
    double factor = pace_scaling_fit_compute(&fit, "v100-sxm2-16", "resnet50");
    if (!(factor > 0) || !isfinite(factor) || !(fit.inside > 0) || !(fit.between > 0) || !(fit.spread >= 0)) abort();
    return 0;
}
