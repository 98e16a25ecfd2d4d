/* What nccl-tests write with -J. */
#include "ask/rows/exchange_log_reader.h"
#include "base/decimal.h"
#include "base/print.h"
#include "base/yaml.h"

/* A process lists its first device alone, whose ranks are then a stride apart. */
static void count_devices(pace_log_reader *r, const pace_yaml_node *config, const pace_yaml_node *devices) {
    static const char *const each[] = {"nthreads", "ngpus"};
    const char *second = pace_yaml_text_of(pace_yaml_item(devices, 1), "rank");
    double number;
    r->per_thread = r->threads = 1;
    for (size_t i = 0; i < PACE_COUNT(each); i++) {
        const char *text = pace_yaml_text_of(config, each[i]);
        if (text && pace_number_parse(&number, text) && number >= 1 && number <= 4096)
            *(i ? &r->per_thread : &r->threads) = (int)number;
    }
    r->ranks = (int)pace_yaml_count(devices);
    if (r->ranks == 1 || (second && pace_number_parse(&number, second) && number > 1))
        r->ranks *= r->per_thread * r->threads;
}

static pace_status read_head(pace_log_reader *r, const pace_yaml_node *root) {
    const pace_yaml_node *config = pace_yaml_get(root, "config"), *devices = pace_yaml_get(config, "devices");
    const char *version = pace_yaml_text_of(root, "nccl_version");
    char said[64];
    count_devices(r, config, devices);
    PACE_YAML_EACH (device, devices) {
        const char *host = pace_yaml_text_of(device, "host"), *name = pace_yaml_text_of(device, "device_info");
        if (!host) host = pace_yaml_text_of(device, "hostname");
        if (host) PACE_TRY(pace_log_add_host(r, host));
        if (name) r->device = pace_device_find(&r->devices, name, 0);
    }
    pace_snprintf(said, sizeof said, "nccl-library=%s", version ? version : "");
    pace_log_note_version(r, said);
    return pace_log_settle(r);
}

/* Out of place, or in place where the run measured nothing else. */
static pace_status take_json_row(pace_log_reader *r, const pace_yaml *yaml, const pace_yaml_node *row) {
    const pace_yaml_node *size = pace_yaml_get(row, "size"), *out = pace_yaml_get(row, "out_of_place"), *time;
    const char *type = pace_yaml_text_of(row, "type"), *errors, *algorithm, *bus;
    double bytes, time_us, wrong = 0, rates[2];
    if (!pace_yaml_is_map(out)) out = pace_yaml_get(row, "in_place");
    time = pace_yaml_get(out, "time");
    if (!size || !time)
        return pace_yaml_fail(yaml, row, "expected \"size\" and \"out_of_place\": {\"time\"} of a result");
    PACE_TRY(pace_yaml_number(&bytes, yaml, size));
    PACE_TRY(pace_yaml_number(&time_us, yaml, time));
    if (type) pace_log_take_type(r, type);
    algorithm = pace_yaml_text_of(out, "alg_bw"), bus = pace_yaml_text_of(out, "bus_bw");
    if (algorithm && bus && pace_number_parse(&rates[0], algorithm) && pace_number_parse(&rates[1], bus))
        PACE_TRY(pace_log_check_bus(r, rates[0], rates[1]));
    errors = pace_yaml_text_of(out, "nwrong");
    if (!errors || !pace_number_parse(&wrong, errors)) wrong = 0;
    return bytes > 0 ? pace_log_add(r, bytes, time_us, wrong) : PACE_OK;
}

pace_status pace_log_read_json(pace_log_reader *r, const char *text, size_t length) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_parse(&yaml, r->rows->name, text, length));
    const pace_yaml_node *results = pace_yaml_get(pace_yaml_root(yaml), "results");
    pace_status status = read_head(r, pace_yaml_root(yaml));
    if (status == PACE_OK && (!pace_yaml_is_list(results) || pace_yaml_count(results) == 0))
        status = pace_fail(PACE_E_INPUT, "%s: expected a list \"results\"", r->rows->name);
    PACE_YAML_EACH (row, results) {
        r->line++;
        if (status == PACE_OK) status = take_json_row(r, yaml, row);
    }
    pace_yaml_free(yaml);
    return status;
}
