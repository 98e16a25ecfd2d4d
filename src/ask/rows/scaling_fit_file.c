/* A fit of scaling rows as JSON: {"schema", "spread", "compute", "inside", …, "groups": [{…}]}. */
#include "base/whole_file.h"
#include "base/yaml_member.h"
#include "ask/rows/scaling_fit.h"

#include <stddef.h>

static const char schema[] = "paceline.scaling-fit/1";

static const struct {
    const char *key;
    size_t offset;
    double least, most;
} figures[] = {{"spread", offsetof(pace_scaling_fit, spread), 0, 10},
               {"compute", offsetof(pace_scaling_fit, compute), 1e-6, 1e6},
               {"inside", offsetof(pace_scaling_fit, inside), 1e-6, 1e6},
               {"between", offsetof(pace_scaling_fit, between), 1e-6, 1e6},
               {"jitter", offsetof(pace_scaling_fit, jitter), -1, 1},
               {"fixed_s", offsetof(pace_scaling_fit, fixed_s), 0, 1e6}};

enum { FIGURES = PACE_COUNT(figures) };

static pace_status write_fit(pace_sink *sink, void *context) {
    const pace_scaling_fit *fit = context;
    pace_jsonw json;
    pace_jsonw_document(&json, sink, 2, schema);
    for (size_t i = 0; i < FIGURES; i++)
        pace_jsonw_key_real(&json, figures[i].key, *(const double *)((const char *)fit + figures[i].offset));
    pace_fit_ranges_write(&json, fit->seen, pace_scaling_seen_names, PACE_SCALING_SEEN);
    pace_fit_groups_write(&json, "groups", fit->groups, fit->group_count, "log_factor");
    pace_fit_groups_write(&json, "known", fit->known, fit->known_count, "log_factor");
    if (fit->known_count > 0) pace_jsonw_key_real(&json, "unseen_share", fit->unseen_share);
    if (fit->known_count > 0) pace_jsonw_key_real(&json, "unseen_spread", fit->unseen_spread);
    pace_jsonw_document_end(&json);
    return PACE_OK;
}

pace_status pace_scaling_fit_save(const pace_scaling_fit *fit, const char *path) {
    return pace_whole_file_write(path, write_fit, (void *)fit); /* only read */
}

pace_status pace_scaling_fit_read(void *out, const pace_yaml *yaml) {
    pace_scaling_fit fit = {0};
    const pace_yaml_node *root = pace_yaml_root(yaml);
    PACE_TRY(pace_yaml_check_schema(yaml, schema, "a fit of scaling rows"));
    for (size_t i = 0; i < FIGURES; i++)
        PACE_TRY(pace_yaml_real((double *)((char *)&fit + figures[i].offset), yaml, root, figures[i].key,
                                figures[i].least, figures[i].most));
    PACE_TRY(pace_fit_ranges_read(fit.seen, yaml, pace_scaling_seen_names, PACE_SCALING_SEEN));
    PACE_TRY(pace_fit_groups_read(fit.groups, &fit.group_count, yaml, "groups", "log_factor"));
    PACE_TRY(pace_fit_groups_read(fit.known, &fit.known_count, yaml, "known", "log_factor"));
    if (fit.known_count > 0) {
        PACE_TRY(pace_yaml_real(&fit.unseen_share, yaml, root, "unseen_share", 0, 1));
        PACE_TRY(pace_yaml_real(&fit.unseen_spread, yaml, root, "unseen_spread", 0, 10));
    }
    *(pace_scaling_fit *)out = fit;
    return PACE_OK;
}

pace_status pace_scaling_fit_load(pace_scaling_fit *out, const char *path) {
    return pace_yaml_read_file(out, path, pace_scaling_fit_read);
}
