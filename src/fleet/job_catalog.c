#include "fleet/job_catalog.h"

#include <math.h>
#include <string.h>

const char *const pace_job_resource_names[PACE_JOB_RESOURCES] = {"compute", "memory", "pcie", "network", "nvlink"};

const char *const pace_job_figure_names[PACE_FIGURES] = {
    "compute_flop_per_s",  "memory_bytes_per_s", "pcie_bytes_per_s",  "network_bytes_per_s",
    "nvlink_bytes_per_s",  "compute_efficiency", "memory_efficiency", "pcie_efficiency",
    "network_efficiency",  "nvlink_efficiency",  "mixed_flop_per_s",  "nvlink_aggregate_bytes_per_s",
    "device_memory_bytes", "devices_per_server",
};

static const char *const change_parts[PACE_CHANGE_FACTORS] = {"input", "compute", "memory", "weight"};

bool pace_job_resource_find(pace_job_resource *out, const char *name) {
    for (int i = 0; name && i < PACE_JOB_RESOURCES; i++)
        if (strcmp(name, pace_job_resource_names[i]) == 0) {
            *out = (pace_job_resource)i;
            return true;
        }
    return false;
}

static pace_figure_source source_of(const pace_yaml_node *map) {
    const char *source = pace_yaml_text_of(map, "source");
    const char *confidence = pace_yaml_text_of(map, "confidence");
    return (pace_figure_source){source ? source : "", confidence ? confidence : ""};
}

static pace_status expect_positive(double *out, const pace_yaml *yaml, const pace_yaml_node *parent,
                                   const pace_yaml_node *node) {
    if (!node) return pace_yaml_fail(yaml, parent, "expected a figure");
    PACE_TRY(pace_yaml_number(out, yaml, node));
    if (*out > 0 && isfinite(*out)) return PACE_OK;
    return pace_yaml_fail(yaml, node, "expected a number above 0");
}

/* {value, source, confidence} */
static pace_status read_figure(double *out, pace_figure_source *source, const pace_yaml *yaml,
                               const pace_yaml_node *node) {
    *source = source_of(node);
    if (!*source->source || !*source->confidence)
        return pace_yaml_fail(yaml, node, "expected {value, source, confidence}");
    return expect_positive(out, yaml, node, pace_yaml_get(node, "value"));
}

/* --- architectures ------------------------------------------------------------------------------------------------ */

/* Which of some words a member is. */
static pace_status read_word(int *out, const char *const *words, int count, const pace_yaml *yaml,
                             const pace_yaml_node *map, const char *key) {
    const char *word = pace_yaml_text_of(map, key);
    for (int i = 0; word && i < count; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = i;
            return PACE_OK;
        }
    return pace_yaml_fail(yaml, map, "expected %s: %s, ... or %s", key, words[0], words[count - 1]);
}

static pace_status read_scheme(pace_job_catalog *catalog, bool *seen, const pace_yaml *yaml,
                               const pace_yaml_node *entry) {
    static const char *const places[] = {"host", "device", "partitioned"}, *const spans[] = {"gpu", "server",
                                                                                             "cluster"};
    const char *name = pace_yaml_text_of(entry, "name");
    const pace_yaml_node *links = pace_yaml_get(entry, "links");
    pace_job_architecture which;
    pace_job_scheme scheme = {.confidence = source_of(entry).confidence};
    double shares;
    int place = 0, span = 0;
    if (!name || !pace_job_architecture_find(&which, name, strlen(name)))
        return pace_yaml_fail(yaml, entry, "expected the name of an architecture");
    PACE_YAML_EACH (one, links) {
        pace_job_resource resource;
        if (!pace_job_resource_find(&resource, pace_yaml_text(one)))
            return pace_yaml_fail(yaml, links, "expected a resource");
        scheme.link[resource] = true;
    }
    PACE_TRY(read_word(&place, places, 3, yaml, entry, "weights"));
    PACE_TRY(read_word(&span, spans, 3, yaml, entry, "span"));
    if (!pace_yaml_get(entry, "shares_pcie")) return pace_yaml_fail(yaml, entry, "expected shares_pcie");
    PACE_TRY(pace_yaml_number(&shares, yaml, pace_yaml_get(entry, "shares_pcie")));
    scheme.shares_pcie = shares > 0;
    scheme.weights = (pace_weights_place)place;
    scheme.span = (pace_job_span)span;
    catalog->schemes[which] = scheme;
    seen[which] = true;
    return PACE_OK;
}

static pace_status read_schemes(pace_job_catalog *catalog, const pace_yaml *yaml, const pace_yaml_node *list) {
    bool seen[PACE_JOB_ARCHITECTURES] = {false};
    PACE_YAML_EACH (one, list) PACE_TRY(read_scheme(catalog, seen, yaml, one));
    for (int i = 0; i < PACE_JOB_ARCHITECTURES; i++)
        if (!seen[i])
            return pace_yaml_fail(yaml, pace_yaml_root(yaml), "no architecture \"%s\"", pace_job_architecture_names[i]);
    return PACE_OK;
}

/* --- machines ----------------------------------------------------------------------------------------------------- */

static pace_status read_machine(pace_job_catalog *catalog, const pace_yaml *yaml, const pace_yaml_node *entry) {
    pace_job_machine machine = {.name = ""};
    const char *name = pace_yaml_text_of(entry, "name");
    const char *like = pace_yaml_text_of(entry, "like");
    if (like) {
        const pace_job_machine *base = PACE_FIND(catalog->machines.items, catalog->machines.count, name, like);
        if (!base) return pace_yaml_fail(yaml, entry, "no machine \"%.40s\" above", like);
        machine = *base;
    }
    if (!name || strlen(name) >= 48) return pace_yaml_fail(yaml, entry, "expected a name");
    memcpy(machine.name, name, strlen(name) + 1);
    for (int i = 0; i < PACE_FIGURES; i++) {
        const pace_yaml_node *node = pace_yaml_get(entry, pace_job_figure_names[i]);
        if (node) PACE_TRY(read_figure(&machine.figure[i], &machine.source[i], yaml, node));
        bool share = i >= PACE_FIGURE_EFFICIENCY && i < PACE_FIGURE_MIXED;
        if (!(machine.figure[i] > 0) || (share && machine.figure[i] > 1))
            return pace_yaml_fail(yaml, node ? node : entry, "expected %s%s", pace_job_figure_names[i],
                                  share ? ", at most 1" : "");
    }
    return PACE_PUSH(&catalog->machines, machine);
}

/* --- sweeps and changes ------------------------------------------------------------------------------------------- */

static pace_status read_values(pace_job_sweep *sweep, const pace_yaml *yaml, const pace_yaml_node *values) {
    PACE_YAML_EACH (one, values) {
        double value;
        PACE_TRY(expect_positive(&value, yaml, values, one));
        PACE_TRY(PACE_PUSH(&sweep->values, value));
    }
    return PACE_OK;
}

static pace_status read_sweep(pace_job_catalog *catalog, const pace_yaml *yaml, const pace_yaml_node *entry) {
    pace_job_sweep sweep = {.source = source_of(entry)};
    if (!pace_job_resource_find(&sweep.resource, pace_yaml_text_of(entry, "resource")))
        return pace_yaml_fail(yaml, entry, "expected a resource");
    pace_status status = read_values(&sweep, yaml, pace_yaml_get(entry, "values"));
    if (status == PACE_OK) return PACE_KEEP(&catalog->sweeps, sweep, PACE_VEC_FREE(&sweep.values));
    PACE_VEC_FREE(&sweep.values);
    return status;
}

static pace_status optional(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    return node ? expect_positive(out, yaml, map, node) : PACE_OK;
}

static pace_status read_lever(pace_job_lever *out, const pace_yaml *yaml, const pace_yaml_node *entry) {
    pace_job_lever lever = {.samples = 1, .rows = 1, .overlap = NAN, .source = source_of(entry)};
    lever.name = pace_yaml_text_of(entry, "name");
    lever.title = pace_yaml_text_of(entry, "title");
    if (!lever.name || !lever.title || !*lever.source.confidence)
        return pace_yaml_fail(yaml, entry, "expected name, title, source, confidence");
    for (int i = 0; i < PACE_CHANGE_FACTORS; i++) {
        lever.factor[i] = 1;
        PACE_TRY(optional(&lever.factor[i], yaml, pace_yaml_get(entry, "factors"), change_parts[i]));
    }
    PACE_TRY(optional(&lever.rows, yaml, pace_yaml_get(entry, "factors"), "embeddings"));
    for (int i = 0; i < PACE_JOB_RESOURCES; i++) {
        lever.efficiency[i] = NAN;
        PACE_TRY(optional(&lever.efficiency[i], yaml, pace_yaml_get(entry, "efficiency"), pace_job_resource_names[i]));
        if (lever.efficiency[i] > 1) return pace_yaml_fail(yaml, entry, "expected efficiencies of at most 1");
    }
    PACE_TRY(optional(&lever.samples, yaml, entry, "samples"));
    PACE_TRY(optional(&lever.spread, yaml, entry, "spread"));
    PACE_TRY(optional(&lever.overlap, yaml, entry, "overlap"));
    if (lever.overlap > 1) return pace_yaml_fail(yaml, entry, "expected an overlap of at most 1");
    *out = lever;
    return PACE_OK;
}

static pace_status read_levers(pace_job_catalog *catalog, const pace_yaml *yaml) {
    const pace_yaml_node *software = pace_yaml_get(pace_yaml_root(yaml), "software");
    const pace_yaml_node *assumptions = pace_yaml_get(pace_yaml_root(yaml), "assumptions");
    pace_job_lever lever;
    PACE_YAML_EACH (one, software) {
        PACE_TRY(read_lever(&lever, yaml, one));
        PACE_TRY(PACE_PUSH(&catalog->software, lever));
    }
    PACE_YAML_EACH (entry, assumptions) {
        PACE_TRY(read_lever(&lever, yaml, entry));
        PACE_TRY(PACE_PUSH(&catalog->assumptions, lever));
    }
    return PACE_OK;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static pace_status read_all(pace_job_catalog *catalog) {
    const pace_yaml *yaml = catalog->yaml;
    const pace_yaml_node *root = pace_yaml_root(yaml), *machines = pace_yaml_get(root, "machines");
    const pace_yaml_node *sweeps = pace_yaml_get(root, "sweeps"), *spread = pace_yaml_get(root, "spread");
    PACE_TRY(read_schemes(catalog, yaml, pace_yaml_get(root, "architectures")));
    PACE_YAML_EACH (one, machines) PACE_TRY(read_machine(catalog, yaml, one));
    PACE_YAML_EACH (entry, sweeps) PACE_TRY(read_sweep(catalog, yaml, entry));
    PACE_TRY(read_levers(catalog, yaml));
    const pace_yaml_node *dense = pace_yaml_get(root, "dense_traffic");
    PACE_TRY(expect_positive(&catalog->dense_traffic, yaml, dense ? dense : root, pace_yaml_get(dense, "value")));
    if (!spread || catalog->machines.count == 0) return pace_yaml_fail(yaml, root, "expected machines and a spread");
    return read_figure(&catalog->spread, &catalog->spread_source, yaml, spread);
}

pace_status pace_job_catalog_read(pace_job_catalog *out, const pace_yaml *yaml) {
    pace_job_catalog catalog = {.yaml = yaml};
    pace_status status = read_all(&catalog);
    return PACE_GIVE(out, catalog, status, pace_job_catalog_free(&catalog));
}

pace_status pace_job_catalog_load(pace_job_catalog *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    pace_job_catalog jobs;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "jobs.yaml"));
    PACE_TRY(pace_job_catalog_read(&jobs, yaml));
    pace_status status = pace_device_catalog_load(&jobs.devices, catalog);
    if (status == PACE_OK) status = pace_machine_catalog_load(&jobs.named, catalog);
    return PACE_GIVE(out, jobs, status, pace_job_catalog_free(&jobs));
}

void pace_job_catalog_free(pace_job_catalog *catalog) {
    for (size_t i = 0; i < catalog->sweeps.count; i++) PACE_VEC_FREE(&catalog->sweeps.items[i].values);
    PACE_VEC_FREE(&catalog->sweeps, &catalog->machines, &catalog->software, &catalog->assumptions);
    pace_device_catalog_free(&catalog->devices);
    pace_machine_catalog_free(&catalog->named);
    *catalog = (pace_job_catalog){0};
}
