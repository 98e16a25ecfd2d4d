#include "ask/rows/exchange_logs.h"
#include "ask/rows/exchange_log_reader.h"

#include <math.h>
#include <string.h>

/* Whether a line heads the rows of nccl-tests: "#  size  count  type … algbw", whose "#" pasting may have lost. A
 * table made of a log has commas or bars, and may have "#wrong". */
static bool heads_nccl(const char *line, size_t length) {
    const char *at = memchr(line, '#', length), *end = line + length, *rate = strstr(line, "algbw");
    if (!at || (rate && at > rate)) at = line + strspn(line, " \t");
    bool begins = *at == '#' || (strncmp(at, "size", 4) == 0 && strstr(at, "count"));
    return rate && at < rate && rate < end && begins && !memchr(at, ',', (size_t)(end - at)) &&
           !memchr(at, '|', (size_t)(end - at));
}

pace_log_kind pace_log_kind_of(const char *text) {
    static const char *const of_json[] = {"nccl", "_perf", "\"config\"", "\"out_of_place\""};
    const char *start = text + strspn(text, " \t\r\n");
    for (size_t i = 0; *start == '{' && i < PACE_COUNT(of_json); i++)
        if (strstr(text, of_json[i])) return PACE_LOG_NCCL_JSON;
    if (strstr(text, "# OSU ")) return PACE_LOG_OSU;
    if (strstr(text, "---- Performance of ")) return PACE_LOG_DEEPSPEED;
    if (strstr(text, "# Benchmarking") && strstr(text, "#bytes")) return PACE_LOG_BENCHMARK;
    for (const char *line = text; *line; line += line[strcspn(line, "\n")] ? strcspn(line, "\n") + 1 : strlen(line))
        if (heads_nccl(line, strcspn(line, "\n"))) return PACE_LOG_NCCL_TEXT;
    return PACE_LOG_NONE;
}

static pace_status read_log(pace_log_reader *r, pace_log_kind kind, const char *text, size_t length) {
    PACE_TRY(pace_names_init(&r->hosts));
    switch (kind) {
    case PACE_LOG_NCCL_JSON: pace_log_find_collective(r, text); return pace_log_read_json(r, text, length);
    case PACE_LOG_NCCL_TEXT: pace_log_find_collective(r, text); return pace_log_read_nccl(r, text);
    case PACE_LOG_OSU: return pace_log_read_osu(r, text);
    case PACE_LOG_BENCHMARK: return pace_log_read_benchmark(r, text);
    default: return pace_log_read_deepspeed(r, text);
    }
}

pace_status pace_log_read(pace_exchange_rows *rows, pace_catalog *catalog, pace_log_kind kind, char *text,
                          size_t length, const pace_exchange_defaults *defaults) {
    pace_log_reader r = {.rows = rows, .defaults = defaults, .common = {.time_s = NAN}, .machine = defaults->machine};
    rows->unit_s = 1e-6;
    memcpy(rows->unit, "us", 3);
    PACE_TRY(pace_device_catalog_load(&r.devices, catalog));
    pace_status status = read_log(&r, kind, text, length);
    pace_names_free(&r.hosts);
    pace_device_catalog_free(&r.devices);
    if (status != PACE_OK || rows->rows.count > 0 || kind == PACE_LOG_NCCL_JSON) return status;
    return pace_fail(PACE_E_INPUT, "%s: expected rows of a size and its time, found none", rows->name);
}
