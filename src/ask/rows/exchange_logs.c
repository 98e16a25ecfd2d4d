#include "ask/rows/exchange_logs.h"
#include "ask/rows/row_kind.h"
#include "base/decimal.h"
#include "base/intern.h"
#include "base/print.h"
#include "base/yaml.h"
#include "machine/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 32 };

static const char deepspeed_title[] = "---- Performance of ";

typedef struct {
    pace_exchange_rows *rows;
    const pace_exchange_defaults *defaults;
    pace_exchange_row common; /* collective and ranks, once known */
    bool knows_collective, settled;
    int ranks;
    int per_thread, threads; /* of one process, where no rank is listed; 0 = not said */
    pace_names hosts;
    pace_device_catalog devices;
    const pace_device
        *device;      /* of the run's ranks, as far as the catalogue knows it; NULL = not said, or of several */
    size_t versioned; /* rows that stood before the version was said */
    unsigned line;
    int before;                  /* words that whoever collected the lines put before each: a pod, a time */
    bool has_header, has_root;   /* the columns of nccl-tests' rows, as the last header names them */
    const pace_machine *machine; /* may be NULL */
} log_reader;

pace_log_kind pace_log_kind_of(const char *text) {
    static const char *const of_json[] = {"nccl", "_perf", "\"config\"", "\"out_of_place\""};
    const char *start = text + strspn(text, " \t\r\n");
    for (size_t i = 0; *start == '{' && i < PACE_COUNT(of_json); i++)
        if (strstr(text, of_json[i])) return PACE_LOG_NCCL_JSON;
    if (strstr(text, "# OSU ")) return PACE_LOG_OSU;
    if (strstr(text, deepspeed_title)) return PACE_LOG_DEEPSPEED;
    for (const char *hash = strchr(text, '#'); hash; hash = strchr(hash + 1, '#')) {
        size_t length = strcspn(hash, "\n");
        const char *algbw = strstr(hash, "algbw");
        bool table = memchr(hash, ',', length) != NULL; /* made of a log: its header may hold "#wrong" */
        if (algbw && (size_t)(algbw - hash) < length && !table) return PACE_LOG_NCCL_TEXT;
    }
    return PACE_LOG_NONE;
}

double pace_element_word_bytes(const char *dtype) {
    static const struct {
        const char *word;
        double bytes;
    } table[] = {{"", 4},      {"float", 4},  {"float32", 4},  {"fp32", 4},   {"half", 2},    {"float16", 2},
                 {"fp16", 2},  {"bf16", 2},   {"bfloat16", 2}, {"int8", 1},   {"uint8", 1},   {"char", 1},
                 {"byte", 1},  {"fp8", 1},    {"float8", 1},   {"double", 8}, {"float64", 8}, {"fp64", 8},
                 {"int32", 4}, {"uint32", 4}, {"int", 4},      {"int64", 8},  {"uint64", 8},  {"tf32", 4},
                 {"f16", 2},   {"f32", 4},    {"f64", 8},      {"i8", 1},     {"u8", 1},      {"i32", 4},
                 {"i64", 8},   {"na", 4},     {"n/a", 4},      {"none", 4},   {"-", 4}};
    if (pace_strncasecmp(dtype, "torch.", 6) == 0) dtype += 6;
    if (pace_strncasecmp(dtype, "nccl", 4) == 0) dtype += 4;
    if (pace_strncasecmp(dtype, "f8", 2) == 0 || pace_strncasecmp(dtype, "fp8_", 4) == 0 ||
        pace_strncasecmp(dtype, "float8_", 7) == 0)
        return 1;
    for (size_t i = 0; i < PACE_COUNT(table); i++)
        if (pace_strcasecmp(table[i].word, dtype) == 0) return table[i].bytes;
    return 0;
}

/* "NCCL version 2.22.3+cuda12.5", or "nccl-library=22203" of the tests' own head. */
static void note_version(log_reader *r, const char *line) {
    const char *said = strstr(line, "NCCL version "), *code = strstr(line, "nccl-library=");
    double number;
    if (said || code) r->versioned = r->rows->rows.count;
    if (said && (said == line || said[-1] != 'R')) {
        said += strlen("NCCL version ");
        snprintf(r->common.variant, sizeof r->common.variant, "nccl %.*s", (int)strspn(said, "0123456789."), said);
    } else if (code && pace_decimal_read(&number, code + strlen("nccl-library="), line + strlen(line)) &&
               number >= 2000 && number < 1e6) {
        int n = (int)number, major = n < 10000 ? 1000 : 10000; /* NCCL_VERSION of nccl.h, before 2.9 and since */
        snprintf(r->common.variant, sizeof r->common.variant, "nccl %d.%d.%d", n / major, n % major / 100, n % 100);
    }
}

/* Sums of halves take other ways than those of floats; where nothing is summed, bytes are bytes. */
static void take_type(log_reader *r, const char *type) {
    bool adds = pace_collective_rows[r->common.collective].adds;
    r->common.element_bytes = adds ? (int)pace_element_word_bytes(type) : 0;
}

/* "all_reduce_perf" in a text that runs or names one of nccl-tests' programs. */
static bool names_program(pace_collective *out, const char *text) {
    static const char *const programs[] = {"all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "alltoall_perf",
                                           "broadcast_perf",  "sendrecv_perf",   "reduce_perf"};
    for (size_t i = 0; i < PACE_COUNT(programs); i++)
        if (strstr(text, programs[i])) return pace_collective_find(out, programs[i]);
    return false;
}

/* As asked, or as the log or the name of the file says. */
static void find_collective(log_reader *r, const char *text) {
    const char *asked = r->defaults->collective, *base = strrchr(r->rows->name, '/');
    pace_collective *out = &r->common.collective;
    r->knows_collective = asked
                              ? pace_collective_find(out, asked)
                              : names_program(out, text) || pace_collective_find(out, base ? base + 1 : r->rows->name);
}

static pace_status add_host(log_reader *r, const char *name) {
    pace_name unused;
    return pace_names_add(&unused, &r->hosts, name, strlen(name));
}

/* Names begin with an empty one. */
static int hosts_of(const log_reader *r) { return (int)pace_names_count(&r->hosts) - 1; }

/* What all rows of a run have. */
static pace_status settle(log_reader *r) {
    const pace_machine *m = r->machine;
    int hosts = hosts_of(r);
    if (!r->knows_collective)
        return pace_fail(PACE_E_INPUT,
                         "%s: does not say which collective it measured: expected " PACE_FIELD "collective, or a "
                         "file named after it",
                         r->rows->name);
    if (r->ranks == 0 && r->per_thread > 1 &&
        (!m || m->devices * m->nodes == r->per_thread * (r->threads > 0 ? r->threads : 1)))
        r->ranks = r->per_thread * (r->threads > 0 ? r->threads : 1);
    if (r->ranks == 0 && m) r->ranks = m->devices * m->nodes, hosts = m->nodes;
    if (r->ranks < 2)
        return pace_fail(PACE_E_INPUT,
                         "%s: does not say on how many ranks it ran: expected lines \"#  Rank\", or " PACE_FIELD "on",
                         r->rows->name);
    if (hosts == 0) hosts = m && r->ranks == m->devices * m->nodes ? m->nodes : 1;
    if (r->ranks % hosts)
        return pace_fail(PACE_E_INPUT, "%s: %d ranks do not divide into %d hosts", r->rows->name, r->ranks, hosts);
    r->common.ranks_per_node = r->ranks / hosts;
    r->common.nodes = hosts;
    if (m && r->device && pace_row_names_other(r->device->name, m->device))
        return pace_fail(PACE_E_INPUT, "%s: ran on %s: expected " PACE_FIELD "on a machine of these, found %s of %s",
                         r->rows->name, r->device->name, m->name, m->device);
    r->settled = true;
    snprintf(r->common.system, sizeof r->common.system, "%.95s", r->device ? r->device->name : "");
    if (m) snprintf(r->common.system, sizeof r->common.system, "%.95s", m->name);
    return PACE_OK;
}

/* `wrong`: elements that the exchange got wrong, by the log's own check; what took that time was none. */
static pace_status add(log_reader *r, double bytes, double time_us, double wrong) {
    pace_exchange_row row = r->common;
    row.row = r->line;
    row.bytes = bytes;
    row.time_s = wrong > 0 ? NAN : time_us * 1e-6;
    if (wrong > 0)
        pace_snprintf(row.unmeasured, sizeof row.unmeasured, "row %u: its result is wrong in %.6g elements", r->line,
                      wrong);
    return PACE_PUSH(&r->rows->rows, row);
}

static int split(char *line, char **words) {
    char *rest = NULL;
    int count = 0;
    for (char *w = strtok_r(line, " \t\r", &rest); w && count < MOST_WORDS; w = strtok_r(NULL, " \t\r", &rest))
        words[count++] = w;
    return count;
}

/* "# nThread 1 nGpus 8 minBytes …" begins a run; its figures are all the ranks of one process. */
static pace_status begin_run(log_reader *r, char **words, int count) {
    pace_names_free(&r->hosts);
    PACE_TRY(pace_names_init(&r->hosts));
    if (r->versioned != r->rows->rows.count) *r->common.variant = '\0'; /* of the run before */
    r->settled = false;
    r->device = NULL;
    r->ranks = r->per_thread = r->threads = 0;
    for (int i = 0; i + 1 < count; i++) {
        double value;
        if (!pace_csv_number(&value, words[i + 1]) || value < 1 || value > 4096) continue;
        if (strcmp(words[i], "nGpus") == 0) r->per_thread = (int)value;
        if (strcmp(words[i], "nThread") == 0 || strcmp(words[i], "nThreads") == 0) r->threads = (int)value;
    }
    return PACE_OK;
}

/* What stands behind the bus: "… device  0 [0x1b] NVIDIA H100 80GB HBM3". */
static void take_device(log_reader *r, char **words, int count) {
    char name[128] = "";
    int at = 0;
    while (at < count && *words[at] != '[') at++;
    for (at++; at < count; at++) pace_append(name, sizeof name, "%s%s", *name ? " " : "", words[at]);
    const pace_device *device = *name ? pace_device_find(&r->devices, name, 0) : NULL;
    r->device = r->ranks == 0 || device == r->device ? device : NULL;
}

/* "#  Rank  0 Group  0 Pid  12 on  node1 device  0 …": a rank and its host. */
static pace_status take_rank(log_reader *r, char **words, int count) {
    double number;
    if (pace_csv_number(&number, words[2]) && number < r->ranks)
        return pace_fail(PACE_E_INPUT,
                         "%s:%u: rank %g is there twice: expected one run of all ranks, found several runs (nccl-tests "
                         "without MPI?)",
                         r->rows->name, r->line, number);
    take_device(r, words, count);
    r->ranks++;
    for (int i = 2; i + 1 < count; i++)
        if (strcmp(words[i], "on") == 0) return add_host(r, words[i + 1]);
    return PACE_OK;
}

/* A row says algorithm and bus bandwidth: which collective ran on how many ranks, up to a twentieth. */
static pace_status check_bus(const log_reader *r, double algorithm, double bus) {
    double factor = pace_bus_factor(r->common.collective, r->ranks);
    if (!(algorithm >= 1) || !(bus >= 0.1) || fabs(bus / algorithm / factor - 1) < 0.05) return PACE_OK;
    return pace_fail(
        PACE_E_INPUT,
        "%s:%u: busbw is %.3g times algbw; for %s on %d ranks it would be %.3g: expected the collective that ran "
        "(" PACE_FIELD "collective, or a file named after it) and its ranks",
        r->rows->name, r->line, bus / algorithm, pace_collective_rows[r->common.collective].name, r->ranks, factor);
}

/* "#  size  count  type  redop  root  time  algbw  busbw  #wrong …": older tests have no root, some no redop. */
static bool take_header(log_reader *r, char **words, int count) {
    int at = count > 0 && strcmp(words[0], "#") == 0;
    if (count < at + 5 || strcmp(words[at], "size") != 0 || strcmp(words[at + 1], "count") != 0) return false;
    r->has_header = true;
    r->has_root = false;
    for (int i = at; i < count && strcmp(words[i], "time") != 0; i++) r->has_root |= strcmp(words[i], "root") == 0;
    return true;
}

/* Where a row's first time stands; 0 = no row. Behind size, count and type come the operation, which may be empty, and
 * the root. What follows may be of one buffer alone, or stand in the next line, where a terminal wrapped it; without a
 * header a row ends with time algbw busbw #wrong, out of place and in place. */
static int time_at(const log_reader *r, char **words, int count) {
    double number;
    if (count < 4 || !pace_csv_number(&number, words[0])) return 0;
    bool typed = pace_csv_number(&number, words[1]) && !pace_csv_number(&number, words[2]) &&
                 pace_element_word_bytes(words[2]) > 0;
    if (!r->has_header || !typed) return count < 10 ? 0 : count - 8;
    int at = 3 + !pace_csv_number(&number, words[3]) + r->has_root;
    return at < count ? at : 0;
}

static pace_status take_nccl(log_reader *r, char **words, int count) {
    double bytes, time_us, algorithm, bus, wrong = 0;
    if (count > 2 && strcmp(words[0], "#") == 0 && strncmp(words[1], "nThread", 7) == 0)
        return begin_run(r, words, count);
    if (count > 2 && strcmp(words[0], "#") == 0 && strcmp(words[1], "Rank") == 0) return take_rank(r, words, count);
    if (take_header(r, words, count)) return PACE_OK;
    int at = time_at(r, words, count);
    if (at == 0 || !pace_csv_number(&bytes, words[0])) return PACE_OK;
    if (!pace_csv_number(&time_us, words[at]) || !(time_us > 0))
        return pace_fail(PACE_E_INPUT, "%s:%u: expected size, count, type and a time in us", r->rows->name, r->line);
    if (!r->settled) PACE_TRY(settle(r));
    if (at + 2 < count && pace_csv_number(&algorithm, words[at + 1]) && pace_csv_number(&bus, words[at + 2]))
        PACE_TRY(check_bus(r, algorithm, bus));
    take_type(r, words[2]);
    if (at + 3 >= count || !pace_csv_number(&wrong, words[at + 3])) wrong = 0; /* "N/A": nobody looked */
    return bytes > 0 ? add(r, bytes, time_us, wrong) : PACE_OK;
}

/* An OSU size is what one rank contributes. */
static pace_status take_osu(log_reader *r, char **words, int count) {
    double bytes, time_us;
    if (count < 2 || !pace_csv_number(&bytes, words[0])) return PACE_OK;
    if (!pace_csv_number(&time_us, words[1]) || !(time_us > 0))
        return pace_fail(PACE_E_INPUT, "%s:%u: expected a size and a latency in us", r->rows->name, r->line);
    pace_collective c = r->common.collective;
    if (c == PACE_ALLGATHER || c == PACE_ALLTOALL) bytes *= r->ranks;
    return bytes > 0 ? add(r, bytes, time_us, 0) : PACE_OK;
}

/* "---- Performance of all_reduce on 16 devices ----": the rows below are of these. */
static pace_status take_section(log_reader *r, char **words, int count, const pace_machine *m) {
    double ranks;
    r->knows_collective = count > 5 && pace_collective_find(&r->common.collective, words[3]);
    if (count > 5 && strcmp(words[3], "pt2pt") == 0) r->common.collective = PACE_SENDRECV, r->knows_collective = true;
    if (!r->knows_collective || !pace_csv_number(&ranks, words[5]) || !(ranks >= 2 && ranks <= 1 << 20))
        return pace_fail(PACE_E_INPUT, "%s:%u: expected \"Performance of COLLECTIVE on NUMBER devices\"", r->rows->name,
                         r->line);
    r->ranks = (int)ranks;
    r->common.nodes = m && r->ranks > m->devices && r->ranks % m->devices == 0 ? r->ranks / m->devices : 1;
    r->common.ranks_per_node = r->ranks / r->common.nodes;
    return PACE_OK;
}

/* "2.0 KB  1024x2  34.5 us  …", or without units in bytes and us: elements and their width say the size exactly. Of an
 * all-gather they are one rank's. */
static pace_status take_deepspeed(log_reader *r, char **words, int count) {
    double elements, width, time;
    int at = 0;
    if (count > 2 && strcmp(words[0], "----") == 0 && strcmp(words[1], "Performance") == 0)
        return take_section(r, words, count, r->machine);
    for (; at + 1 < count; at++) {
        const char *end = pace_number_read(&elements, words[at]);
        if (end && *end == 'x' && pace_csv_number(&width, end + 1)) break;
    }
    if (!r->knows_collective || at + 1 >= count) return PACE_OK;
    bool ms = at + 2 < count && strcmp(words[at + 2], "ms") == 0;
    if (!(elements * width >= 1 && elements * width < 1e18) || !pace_csv_number(&time, words[at + 1]) || !(time > 0))
        return pace_fail(PACE_E_INPUT, "%s:%u: expected elements x width and a duration", r->rows->name, r->line);
    if (pace_collective_rows[r->common.collective].adds) r->common.element_bytes = (int)width;
    else r->common.element_bytes = 0;
    return add(r, elements * width * (r->common.collective == PACE_ALLGATHER ? r->ranks : 1), ms ? time * 1e3 : time,
               0);
}

typedef pace_status (*take_fn)(log_reader *r, char **words, int count);

/* Launchers put a rank before every line: "[1,0]<stdout>:", "0: ". */
static char *without_rank(char *line) {
    char *at = line;
    if (*at == '[' && (at = strstr(at, "<stdout>:"))) return at + 9;
    at = line + strspn(line, "0123456789");
    return at > line && at[0] == ':' && (at[1] == ' ' || at[1] == '\t') ? at + 1 : line;
}

/* Of "pod-0 2026-03-01T10:00:00Z # nThread 1 …" two words stand before the log's own. */
static int words_before(char **words, int count) {
    static const char *const next[] = {"nThread", "nThreads", "Rank", "size"};
    for (int i = 0; i + 1 < count; i++)
        for (size_t n = 0; n < PACE_COUNT(next); n++)
            if (strcmp(words[i], "#") == 0 && strcmp(words[i + 1], next[n]) == 0) return i;
    return 0;
}

static pace_status each_line(log_reader *r, const char *text, take_fn take) {
    char line[1024];
    char *words[MOST_WORDS];
    r->line = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
        r->line++;
        if (!r->defaults->collective && take == take_nccl)
            r->knows_collective |= names_program(&r->common.collective, line);
        if (take == take_nccl) note_version(r, line);
        int count = split(without_rank(line), words), before = words_before(words, count);
        if (before) r->before = before;
        before = count > r->before && strcmp(words[0], "#") != 0 ? r->before : 0;
        if (count > 0) PACE_TRY(take(r, words + before, count - before));
        text += length + (text[length] == '\n');
    }
    return PACE_OK;
}

/* "# OSU MPI Allreduce Latency Test v7.0", or of messages "# OSU MPI Latency Test": half a round trip of two ranks. */
static pace_status name_osu(log_reader *r, const char *text) {
    const char *title = strstr(text, "# OSU ");
    char line[128];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(title, "\n") > 120 ? 120 : (int)strcspn(title, "\n"), title);
    pace_collective found;
    if (pace_collective_find(&found, line)) r->common.collective = found, r->knows_collective = true;
    else if (strstr(line, "Bandwidth") || strstr(line, "Message Rate"))
        return pace_fail(PACE_E_INPUT,
                         "%s: a bandwidth test keeps many messages under way and tells no time of one: expected a "
                         "latency test",
                         r->rows->name);
    else if (strstr(line, " Latency Test") && !strstr(line, "Multi"))
        r->common.collective = PACE_SENDRECV, r->knows_collective = true, r->ranks = 2;
    return PACE_OK;
}

static pace_status read_json(log_reader *r, const char *text, size_t length) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_parse(&yaml, r->rows->name, text, length));
    const pace_yaml_node *root = pace_yaml_root(yaml), *config = pace_yaml_get(root, "config");
    const pace_yaml_node *devices = pace_yaml_get(config, "devices"), *results = pace_yaml_get(root, "results");
    pace_status status = PACE_OK;
    r->ranks = (int)pace_yaml_count(devices);
    PACE_YAML_EACH (device, devices) {
        const char *host = pace_yaml_text_of(device, "host");
        if (!host) host = pace_yaml_text_of(device, "hostname");
        if (host) PACE_TRY_GOTO(add_host(r, host), done);
    }
    PACE_TRY_GOTO(settle(r), done);
    if (!pace_yaml_is_list(results) || pace_yaml_count(results) == 0) {
        status = pace_fail(PACE_E_INPUT, "%s: expected a list \"results\"", r->rows->name);
        goto done;
    }
    for (size_t i = 0; i < pace_yaml_count(results); i++) {
        const pace_yaml_node *row = pace_yaml_item(results, i), *size = pace_yaml_get(row, "size");
        const pace_yaml_node *out = pace_yaml_get(row, "out_of_place"), *time = pace_yaml_get(out, "time");
        double bytes, time_us, wrong = 0;
        if (!size || !time) {
            status = pace_yaml_fail(yaml, row, "expected \"size\" and \"out_of_place\": {\"time\"} of a result");
            goto done;
        }
        PACE_TRY_GOTO(pace_yaml_number(&bytes, yaml, size), done);
        PACE_TRY_GOTO(pace_yaml_number(&time_us, yaml, time), done);
        r->line = (unsigned)i + 1;
        if (pace_yaml_text_of(row, "type")) take_type(r, pace_yaml_text_of(row, "type"));
        const char *errors = pace_yaml_text_of(out, "nwrong");
        if (!errors || !pace_number_parse(&wrong, errors)) wrong = 0;
        if (bytes > 0) PACE_TRY_GOTO(add(r, bytes, time_us, wrong), done);
    }
done:
    pace_yaml_free(yaml);
    return status;
}

static pace_status read_log(log_reader *r, pace_log_kind kind, const char *text, size_t length) {
    PACE_TRY(pace_names_init(&r->hosts));
    if (kind == PACE_LOG_OSU) PACE_TRY(name_osu(r, text));
    if (!r->knows_collective && kind != PACE_LOG_DEEPSPEED) find_collective(r, text);
    switch (kind) {
    case PACE_LOG_NCCL_JSON: return read_json(r, text, length);
    case PACE_LOG_NCCL_TEXT: return each_line(r, text, take_nccl);
    case PACE_LOG_OSU: PACE_TRY(settle(r)); return each_line(r, text, take_osu);
    default: break;
    }
    r->common.stack = PACE_STACK_FRAMEWORK;
    snprintf(r->common.variant, sizeof r->common.variant, "deepspeed");
    if (r->machine) snprintf(r->common.system, sizeof r->common.system, "%.95s", r->machine->name);
    return each_line(r, text, take_deepspeed);
}

pace_status pace_log_read(pace_exchange_rows *rows, pace_catalog *catalog, pace_log_kind kind, char *text,
                          size_t length, const pace_exchange_defaults *defaults) {
    log_reader r = {.rows = rows, .defaults = defaults, .common = {.time_s = NAN}, .machine = defaults->machine};
    rows->unit_s = 1e-6;
    memcpy(rows->unit, "us", 3);
    PACE_TRY(pace_device_catalog_load(&r.devices, catalog));
    pace_status status = read_log(&r, kind, text, length);
    pace_names_free(&r.hosts);
    pace_device_catalog_free(&r.devices);
    if (status != PACE_OK || rows->rows.count > 0 || kind == PACE_LOG_NCCL_JSON) return status;
    return pace_fail(PACE_E_INPUT, "%s: expected rows of a size and its time, found none", rows->name);
}
