#include "ask/rows/exchange_log_reader.h"
#include "ask/rows/element_words.h"
#include "ask/rows/row_kind.h"
#include "base/decimal.h"
#include "base/print.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pace_log_note_version(pace_log_reader *r, const char *line) {
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

void pace_log_take_type(pace_log_reader *r, const char *type) {
    bool adds = pace_collective_rows[r->common.collective].adds;
    r->common.element_bytes = adds ? (int)pace_element_word_bytes(type) : 0;
}

/* "all_reduce_perf" in a text that runs or names one of nccl-tests' programs. */
bool pace_log_names_program(pace_collective *out, const char *text) {
    static const char *const programs[] = {"all_reduce_perf", "all_gather_perf", "reduce_scatter_perf", "alltoall_perf",
                                           "broadcast_perf",  "sendrecv_perf",   "reduce_perf"};
    for (size_t i = 0; i < PACE_COUNT(programs); i++)
        if (strstr(text, programs[i])) return pace_collective_find(out, programs[i]);
    return false;
}

void pace_log_find_collective(pace_log_reader *r, const char *text) {
    const char *asked = r->defaults->collective, *base = strrchr(r->rows->name, '/');
    pace_collective *out = &r->common.collective;
    r->knows_collective =
        asked ? pace_collective_find(out, asked)
              : pace_log_names_program(out, text) || pace_collective_find(out, base ? base + 1 : r->rows->name);
}

pace_status pace_log_add_host(pace_log_reader *r, const char *name) {
    pace_name unused;
    return pace_names_add(&unused, &r->hosts, name, strlen(name));
}

/* Names begin with an empty one. */
static int hosts_of(const pace_log_reader *r) { return (int)pace_names_count(&r->hosts) - 1; }

/* What all rows of a run have. */
pace_status pace_log_settle(pace_log_reader *r) {
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

pace_status pace_log_add(pace_log_reader *r, double bytes, double time_us, double wrong) {
    pace_exchange_row row = r->common;
    row.row = r->line;
    row.bytes = bytes;
    row.time_s = wrong > 0 ? NAN : time_us * 1e-6;
    if (wrong > 0)
        pace_snprintf(row.unmeasured, sizeof row.unmeasured, "row %u: its result is wrong in %.6g elements", r->line,
                      wrong);
    return PACE_PUSH(&r->rows->rows, row);
}

/* A row says algorithm and bus bandwidth: which collective ran on how many ranks, up to a twentieth. */
pace_status pace_log_check_bus(const pace_log_reader *r, double algorithm, double bus) {
    double factor = pace_bus_factor(r->common.collective, r->ranks);
    if (!(algorithm >= 1) || !(bus >= 0.1) || fabs(bus / algorithm / factor - 1) < 0.05) return PACE_OK;
    return pace_fail(
        PACE_E_INPUT,
        "%s:%u: busbw is %.3g times algbw; for %s on %d ranks it would be %.3g: expected the collective that ran "
        "(" PACE_FIELD "collective, or a file named after it) and its ranks",
        r->rows->name, r->line, bus / algorithm, pace_collective_rows[r->common.collective].name, r->ranks, factor);
}

int pace_log_split(char *line, char **words) {
    char *rest = NULL;
    int count = 0;
    for (char *w = strtok_r(line, " \t\r", &rest); w && count < PACE_LOG_WORDS; w = strtok_r(NULL, " \t\r", &rest))
        words[count++] = w;
    return count;
}

void pace_log_place_ranks(pace_log_reader *r, int ranks) {
    const pace_machine *m = r->machine;
    r->ranks = ranks;
    r->common.nodes = m && ranks > m->devices && ranks % m->devices == 0 ? ranks / m->devices : 1;
    r->common.ranks_per_node = ranks / r->common.nodes;
    if (m) snprintf(r->common.system, sizeof r->common.system, "%.95s", m->name);
}

void pace_log_guess_collective(pace_log_reader *r, const char *operation, const char *root, double algorithm,
                               double bus) {
    static const pace_collective sums[] = {PACE_ALLREDUCE, PACE_REDUCESCATTER};
    bool adds = strcmp(operation, "sum") == 0 && strcmp(root, "-1") == 0;
    int ranks = r->ranks ? r->ranks : r->per_thread * (r->threads ? r->threads : 1);
    for (size_t i = 0; i < PACE_COUNT(sums) && adds && ranks > 2 && algorithm >= 1; i++)
        if (fabs(bus / algorithm / pace_bus_factor(sums[i], ranks) - 1) < 0.02)
            r->common.collective = sums[i], r->knows_collective = true;
}

pace_status pace_log_each_line(pace_log_reader *r, const char *text, pace_log_take take) {
    char line[1024];
    r->line = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
        r->line++;
        PACE_TRY(take(r, line));
        text += length + (text[length] == '\n');
    }
    return PACE_OK;
}
