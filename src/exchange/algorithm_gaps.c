#include "exchange/algorithm_gaps.h"
#include "base/yaml_member.h"

static pace_status read_all(pace_algorithm_gaps *out, const pace_yaml *yaml) {
    const pace_yaml_node *gaps;
    PACE_TRY(pace_yaml_member(&gaps, yaml, pace_yaml_root(yaml), "gaps"));
    PACE_YAML_EACH (one, gaps)
        if (pace_exchange_algorithm_find(pace_yaml_key_of(one)) < 0)
            return pace_yaml_fail(yaml, one, "no algorithm is called \"%.40s\"", pace_yaml_key_of(one));
    for (size_t i = 0; i < pace_exchange_algorithm_count; i++)
        PACE_TRY(pace_yaml_real(&out->of[i], yaml, gaps, pace_exchange_algorithms[i].name, 0, 3));
    return PACE_OK;
}

pace_status pace_algorithm_gaps_load(pace_algorithm_gaps *out, pace_catalog *catalog) {
    pace_algorithm_gaps gaps = {{0}};
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "algorithms.yaml"));
    pace_status status = read_all(&gaps, yaml);
    if (status == PACE_OK) *out = gaps;
    return status;
}
