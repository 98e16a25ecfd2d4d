/* Benchmarks that print a section for each collective: OSU, DeepSpeed, Intel MPI and oneCCL. */
#include "ask/rows/exchange_log_reader.h"
#include "ask/rows/row_kind.h"
#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of all parts together, where a benchmark says the size of one. */
static double of_all(const pace_log_reader *r, double bytes) {
    pace_collective c = r->common.collective;
    return c == PACE_ALLGATHER || c == PACE_ALLTOALL ? bytes * r->ranks : bytes;
}

/* An OSU size is what one rank contributes. */
static pace_status take_osu(pace_log_reader *r, char *line) {
    char *words[PACE_LOG_WORDS];
    int count = pace_log_split(line, words);
    double bytes, time_us;
    if (count < 2 || !pace_csv_number(&bytes, words[0])) return PACE_OK;
    if (!pace_csv_number(&time_us, words[1]) || !(time_us > 0))
        return pace_fail(PACE_E_INPUT, "%s:%u: expected a size and a latency in us", r->rows->name, r->line);
    return bytes > 0 ? pace_log_add(r, of_all(r, bytes), time_us, 0) : PACE_OK;
}

/* "# OSU MPI Allreduce Latency Test v7.0", or of messages "# OSU MPI Latency Test": half a round trip of two ranks. */
static pace_status name_osu(pace_log_reader *r, const char *text) {
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

pace_status pace_log_read_osu(pace_log_reader *r, const char *text) {
    PACE_TRY(name_osu(r, text));
    if (!r->knows_collective) pace_log_find_collective(r, text);
    PACE_TRY(pace_log_settle(r));
    return pace_log_each_line(r, text, take_osu);
}

/* "---- Performance of all_reduce on 16 devices ----": the rows below are of these. */
static pace_status take_section(pace_log_reader *r, char **words, int count) {
    double ranks;
    r->knows_collective = count > 5 && pace_collective_find(&r->common.collective, words[3]);
    if (count > 5 && strcmp(words[3], "pt2pt") == 0) r->common.collective = PACE_SENDRECV, r->knows_collective = true;
    if (!r->knows_collective || !pace_csv_number(&ranks, words[5]) || !(ranks >= 2 && ranks <= 1 << 20))
        return pace_fail(PACE_E_INPUT, "%s:%u: expected \"Performance of COLLECTIVE on NUMBER devices\"", r->rows->name,
                         r->line);
    pace_log_place_ranks(r, (int)ranks);
    return PACE_OK;
}

/* "2.0 KB  1024x2  34.5 us  …", or without units in bytes and us: elements and their width say the size exactly. Of an
 * all-gather they are one rank's. */
static pace_status take_deepspeed(pace_log_reader *r, char *line) {
    char *words[PACE_LOG_WORDS];
    double elements, width, time;
    int count = pace_log_split(line, words), at = 0;
    if (count > 2 && strcmp(words[0], "----") == 0 && strcmp(words[1], "Performance") == 0)
        return take_section(r, words, count);
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
    return pace_log_add(r, elements * width * (r->common.collective == PACE_ALLGATHER ? r->ranks : 1),
                        ms ? time * 1e3 : time, 0);
}

pace_status pace_log_read_deepspeed(pace_log_reader *r, const char *text) {
    r->common.stack = PACE_STACK_FRAMEWORK;
    snprintf(r->common.variant, sizeof r->common.variant, "deepspeed");
    return pace_log_each_line(r, text, take_deepspeed);
}

/* "#processes: 4" of oneCCL, "#processes = 4" of Intel's MPI benchmarks: how many ranks take part in what follows. */
static void take_processes(pace_log_reader *r, char **words, int count) {
    double ranks;
    if (pace_csv_number(&ranks, words[count - 1]) && ranks >= 2 && ranks <= 1 << 20)
        pace_log_place_ranks(r, (int)ranks);
}

/* "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]": the mean counts; of messages there is one time alone. */
static void take_columns(pace_log_reader *r, char **words, int count) {
    r->time_column = 0;
    for (int i = 1; i < count; i++)
        if (strcmp(words[i], "t_avg[usec]") == 0 || strcmp(words[i], "t[usec]") == 0) r->time_column = i;
}

/* "# Benchmarking Allreduce", "# Benchmarking: allreduce"; what measures no collective is passed over. */
static void take_name(pace_log_reader *r, const char *name) {
    r->ranks = r->time_column = 0;
    r->knows_collective = pace_collective_find(&r->common.collective, name);
    if (strncmp(name, "PingPong", 8) == 0) r->common.collective = PACE_SENDRECV, r->knows_collective = true;
}

static pace_status take_benchmark(pace_log_reader *r, char *line) {
    char *words[PACE_LOG_WORDS];
    int count = pace_log_split(line, words);
    double bytes, time_us;
    if (count > 2 && strncmp(words[1], "Benchmarking", 12) == 0) take_name(r, words[2]);
    else if (count > 1 && strncmp(words[1], "#processes", 10) == 0) take_processes(r, words, count);
    else if (count > 1 && strcmp(words[0], "#bytes") == 0) take_columns(r, words, count);
    else if (r->knows_collective && r->ranks && r->time_column && r->time_column < count &&
             pace_csv_number(&bytes, words[0]) && pace_csv_number(&time_us, words[r->time_column]) && bytes > 0 &&
             time_us > 0)
        return pace_log_add(r, of_all(r, bytes), time_us, 0);
    return PACE_OK;
}

pace_status pace_log_read_benchmark(pace_log_reader *r, const char *text) {
    snprintf(r->common.variant, sizeof r->common.variant, strstr(text, "MPI Benchmarks") ? "mpi" : "oneccl");
    return pace_log_each_line(r, text, take_benchmark);
}
