#include "cost/host_costs_catalog.h"

#include "base/yaml_member.h"
#include "machine/catalog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MOST_US = 1e5; /* no launch and no operator spends a tenth of a second */
static const double MOST_PARAMETERS = 1e7;

typedef struct {
    const pace_yaml *yaml;
    const pace_yaml_node *modes, *overheads, *sources, *later;
    const char *mode, *vendor;
    int generation; /* as pace_device has it */
} reader;

static const char *text_of(const pace_yaml_node *entry, const char *key) { return pace_yaml_text_of(entry, key); }

static pace_status refuse_unknown(const reader *r, const pace_yaml_node *entry, const char *const *known) {
    if (!pace_yaml_is_map(entry)) return pace_yaml_fail(r->yaml, entry, "expected a map");
    PACE_YAML_EACH (one, entry) {
        size_t at = 0;
        while (known[at] && strcmp(known[at], pace_yaml_key_of(one)) != 0) at++;
        if (!known[at]) return pace_yaml_fail(r->yaml, one, "unknown member \"%.80s\"", pace_yaml_key_of(one));
    }
    return PACE_OK;
}

static pace_status read_us(double *out_ns, const reader *r, const pace_yaml_node *entry, const char *key) {
    double us;
    PACE_TRY(pace_yaml_real(&us, r->yaml, entry, key, 0, MOST_US));
    *out_ns = us * 1e3;
    return PACE_OK;
}

static const pace_yaml_node *find(const pace_yaml_node *list, const char *key, const char *value) {
    for (size_t i = 0; value && i < pace_yaml_count(list); i++) {
        const char *text = text_of(pace_yaml_item(list, i), key);
        if (text && strcmp(text, value) == 0) return pace_yaml_item(list, i);
    }
    return NULL;
}

/* Every figure has a source, every source a text and how far it can be trusted. */
static pace_status check_source(const reader *r, const pace_yaml_node *entry) {
    const pace_yaml_node *source = find(r->sources, "name", text_of(entry, "source"));
    if (source && text_of(source, "text") && text_of(source, "confidence")) return PACE_OK;
    return pace_yaml_fail(r->yaml, entry, "expected \"source\", the name of one of \"sources\"");
}

/* The last that applies. */
static const pace_yaml_node *find_launch(const reader *r) {
    const pace_yaml_node *found = NULL;
    PACE_YAML_EACH (entry, r->modes) {
        const char *mode = text_of(entry, "mode"), *vendor = text_of(entry, "vendor");
        if (mode && strcmp(mode, r->mode) == 0 && (!vendor || strcmp(vendor, r->vendor) == 0)) found = entry;
    }
    return found;
}

static pace_status read_launch(pace_launch_costs *out, const reader *r) {
    static const char *const known[] = {"mode",   "vendor", "launch_lag_us", "between_kernels_us", "queue",
                                        "source", NULL};
    pace_launch_costs launch = {0};
    const pace_yaml_node *entry = find_launch(r);
    if (!entry) {
        char names[256] = "";
        for (size_t i = 0, used = 0; i < pace_yaml_count(r->modes) && used < sizeof names; i++) {
            const char *name = text_of(pace_yaml_item(r->modes, i), "mode");
            if (text_of(pace_yaml_item(r->modes, i), "vendor")) continue;
            int length = snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name ? name : "?");
            used += length > 0 ? (size_t)length : 0;
        }
        return pace_fail(PACE_E_USAGE, "\"%.80s\" is no mode of running, which are: %s", r->mode, names);
    }
    PACE_TRY(refuse_unknown(r, entry, known));
    PACE_TRY(check_source(r, entry));
    PACE_TRY(read_us(&launch.lag_ns, r, entry, "launch_lag_us"));
    PACE_TRY(read_us(&launch.between_ns, r, entry, "between_kernels_us"));
    double queue = 0;
    if (pace_yaml_get(entry, "queue")) PACE_TRY(pace_yaml_positive(&queue, r->yaml, entry, "queue", UINT32_MAX));
    launch.queue = (uint32_t)queue;
    *out = launch;
    return PACE_OK;
}

/* What the reader's host takes of a figure of this source: 1, or less where the source's hosts are older. */
static pace_status read_later(double *out, const reader *r, const char *source) {
    static const char *const known[] = {"vendor", "generation", "factor", "of", "source", NULL};
    *out = 1;
    PACE_YAML_EACH (entry, r->later) {
        const char *vendor = text_of(entry, "vendor");
        const pace_yaml_node *of = pace_yaml_get(entry, "of");
        double from = INFINITY, factor;
        PACE_TRY(refuse_unknown(r, entry, known));
        PACE_TRY(check_source(r, entry));
        PACE_TRY(pace_yaml_positive(&factor, r->yaml, entry, "factor", 10));
        if (pace_yaml_get(entry, "generation")) PACE_TRY(pace_yaml_positive(&from, r->yaml, entry, "generation", 1000));
        if (vendor ? strcmp(vendor, r->vendor) != 0 : r->generation < from) continue;
        for (size_t i = 0; i < pace_yaml_count(of); i++)
            if (strcmp(pace_yaml_text(pace_yaml_item(of, i)), source) == 0) *out = factor;
        break;
    }
    return PACE_OK;
}

static pace_status read_overhead(pace_host_costs *costs, const reader *r, const pace_yaml_node *entry) {
    static const char *const known[] = {"mode", "type", "name", "mean_us", "std_us", "parameters", "source", NULL};
    pace_host_cost figure = {.count = 1};
    int type = 0;
    PACE_TRY(refuse_unknown(r, entry, known));
    PACE_TRY(check_source(r, entry));
    const char *mode = text_of(entry, "mode"), *type_name = text_of(entry, "type"), *name = text_of(entry, "name");
    if (!find(r->modes, "mode", mode)) return pace_yaml_fail(r->yaml, entry, "expected \"mode\", one of \"modes\"");
    while (type < PACE_OVERHEAD_TYPES && (!type_name || strcmp(pace_overhead_names[type], type_name) != 0)) type++;
    if (type == PACE_OVERHEAD_TYPES) return pace_yaml_fail(r->yaml, entry, "expected \"type\", t1 to t5");
    PACE_TRY(read_us(&figure.mean_ns, r, entry, "mean_us"));
    if (pace_yaml_get(entry, "std_us")) PACE_TRY(read_us(&figure.std_ns, r, entry, "std_us"));
    double parameters = 0, later;
    PACE_TRY(read_later(&later, r, text_of(entry, "source")));
    figure.mean_ns *= later, figure.std_ns *= later;
    const pace_yaml_node *of = pace_yaml_get(entry, "parameters");
    if (of && (!name || !pace_is_optimizer_step(name) || type != PACE_T2))
        return pace_yaml_fail(r->yaml, of, "expected \"parameters\" of the t2 of an \"Optimizer.step\" alone");
    if (of) PACE_TRY(pace_yaml_positive(&parameters, r->yaml, entry, "parameters", MOST_PARAMETERS));
    if (strcmp(mode, r->mode) != 0) return PACE_OK;
    if (of) PACE_TRY(pace_host_costs_add_optimizer(costs, name, parameters, figure.mean_ns));
    return pace_host_costs_add(costs, (pace_overhead_type)type, name, figure);
}

static pace_status read_all(pace_host_costs *costs, pace_launch_costs *launch, reader *r) {
    static const char *const known[] = {"sources",  "modes",         "later_hosts", "overheads",
                                        "profiler", "exchange_call", NULL};
    const pace_yaml_node *root = pace_yaml_root(r->yaml);
    PACE_TRY(refuse_unknown(r, root, known));
    r->modes = pace_yaml_get(root, "modes");
    r->sources = pace_yaml_get(root, "sources");
    r->overheads = pace_yaml_get(root, "overheads");
    r->later = pace_yaml_get(root, "later_hosts");
    if (!pace_yaml_is_list(r->modes) || !pace_yaml_is_list(r->sources) || !pace_yaml_is_list(r->overheads))
        return pace_yaml_fail(r->yaml, root, "expected lists \"sources\", \"modes\" and \"overheads\"");
    PACE_TRY(read_launch(launch, r));
    PACE_YAML_EACH (one, r->overheads) PACE_TRY(read_overhead(costs, r, one));
    return PACE_OK;
}

pace_status pace_host_costs_default(pace_host_costs *costs, pace_launch_costs *launch, pace_catalog *catalog,
                                    const char *mode, const pace_device *device) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "frameworks.yaml"));
    reader r = {.yaml = yaml, .mode = mode ? mode : "eager", .vendor = device ? device->vendor : ""};
    r.generation = device ? device->generation : 0;
    pace_status status = read_all(costs, launch, &r);
    return status;
}

pace_status pace_launch_costs_complete(pace_launch_costs *launch, pace_catalog *catalog) {
    pace_host_costs usual;
    pace_launch_costs elsewhere;
    bool lags = !isnan(launch->lag_ns), gaps = !isnan(launch->between_ns);
    if (!lags && !gaps) *launch = (pace_launch_costs){0};
    if (lags == gaps) return PACE_OK;
    PACE_TRY(pace_host_costs_init(&usual));
    pace_status status = pace_host_costs_default(&usual, &elsewhere, catalog, NULL, NULL);
    pace_host_costs_free(&usual);
    if (status != PACE_OK) return status;
    if (!lags) launch->lag_ns = elsewhere.lag_ns;
    if (!gaps) launch->between_ns = elsewhere.between_ns;
    return PACE_OK;
}

static pace_status read_profiler(pace_profiler_figures *out, reader *r) {
    static const char *const known[] = {"quantile", "ratio", "spread", "source", NULL};
    const pace_yaml_node *root = pace_yaml_root(r->yaml), *entry;
    PACE_TRY(pace_yaml_member(&entry, r->yaml, root, "profiler"));
    r->sources = pace_yaml_get(root, "sources");
    PACE_TRY(refuse_unknown(r, entry, known));
    PACE_TRY(check_source(r, entry));
    PACE_TRY(pace_yaml_positive(&out->quantile, r->yaml, entry, "quantile", 0.5));
    PACE_TRY(pace_yaml_positive(&out->ratio, r->yaml, entry, "ratio", 1000));
    return pace_yaml_positive(&out->spread, r->yaml, entry, "spread", 10);
}

pace_status pace_profiler_figures_load(pace_profiler_figures *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    pace_profiler_figures figures = {0};
    PACE_TRY(pace_catalog_document(&yaml, catalog, "frameworks.yaml"));
    reader r = {.yaml = yaml};
    pace_status status = read_profiler(&figures, &r);
    if (status == PACE_OK) *out = figures;
    return status;
}

static pace_status read_exchange_call(pace_exchange_call *out, reader *r) {
    static const char *const known[] = {"mean_us", "copy_us", "source", NULL};
    const pace_yaml_node *root = pace_yaml_root(r->yaml), *entry;
    double call_ns, copy_ns;
    PACE_TRY(pace_yaml_member(&entry, r->yaml, root, "exchange_call"));
    r->sources = pace_yaml_get(root, "sources");
    PACE_TRY(refuse_unknown(r, entry, known));
    PACE_TRY(check_source(r, entry));
    PACE_TRY(read_us(&call_ns, r, entry, "mean_us"));
    PACE_TRY(read_us(&copy_ns, r, entry, "copy_us"));
    *out = (pace_exchange_call){call_ns * 1e-9, copy_ns * 1e-9};
    return PACE_OK;
}

pace_status pace_exchange_call_load(pace_exchange_call *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "frameworks.yaml"));
    reader r = {.yaml = yaml};
    return read_exchange_call(out, &r);
}
