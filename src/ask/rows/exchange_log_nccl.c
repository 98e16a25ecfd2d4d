/* nccl-tests and rccl-tests as text, and what prints as they do. */
#include "ask/rows/exchange_log_reader.h"
#include "ask/rows/element_words.h"
#include "ask/rows/row_kind.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* "# nThread 1 nGpus 8 minBytes …" begins a run; its figures are all the ranks of one process. */
static pace_status begin_run(pace_log_reader *r, char **words, int count) {
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
static void take_device(pace_log_reader *r, char **words, int count) {
    char name[128] = "";
    int at = 0;
    while (at < count && *words[at] != '[') at++;
    for (at++; at < count; at++) pace_append(name, sizeof name, "%s%s", *name ? " " : "", words[at]);
    const pace_device *device = *name ? pace_device_find(&r->devices, name, 0) : NULL;
    r->device = r->ranks == 0 || device == r->device ? device : NULL;
}

/* "Rank  0 Group  0 Pid  12 on  node1 device  0 …": a rank and its host. */
static pace_status take_rank(pace_log_reader *r, char **words, int count) {
    double number;
    if (pace_csv_number(&number, words[1]) && number < r->ranks)
        return pace_fail(PACE_E_INPUT,
                         "%s:%u: rank %g is there twice: expected one run of all ranks, found several runs (nccl-tests "
                         "without MPI?)",
                         r->rows->name, r->line, number);
    take_device(r, words, count);
    r->ranks++;
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], "on") == 0) return pace_log_add_host(r, words[i + 1]);
    return PACE_OK;
}

/* A word of a header, with or without its unit: "size", "size(B)". */
static bool is_column(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '(');
}

/* "size  count  type  redop  root  time  algbw  busbw  #wrong …": older tests have no root, some no redop. */
static bool take_header(pace_log_reader *r, char **words, int count) {
    if (count < 5 || !is_column(words[0], "size") || !is_column(words[1], "count")) return false;
    r->has_header = true;
    r->has_root = false;
    for (int i = 0; i < count && !is_column(words[i], "time"); i++) r->has_root |= strcmp(words[i], "root") == 0;
    return true;
}

/* Where a row's first time stands; 0 = no row. Behind size, count and type come the operation, which may be empty, and
 * the root. What follows may be of one buffer alone, or stand in the next line, where a terminal wrapped it; without a
 * header a row ends with time algbw busbw #wrong, out of place and in place. */
static int time_at(const pace_log_reader *r, char **words, int count) {
    double number;
    if (count < 4 || !pace_csv_number(&number, words[0])) return 0;
    bool typed = pace_csv_number(&number, words[1]) && !pace_csv_number(&number, words[2]) &&
                 pace_element_word_bytes(words[2]) > 0;
    if (!r->has_header || !typed) return count < 10 ? 0 : count - 8;
    int at = 3 + !pace_csv_number(&number, words[3]) + r->has_root;
    return at < count ? at : 0;
}

static pace_status take_row(pace_log_reader *r, char **words, int at, int count) {
    double bytes, time_us, rates[2], wrong = 0;
    bool rated =
        at + 2 < count && pace_csv_number(&rates[0], words[at + 1]) && pace_csv_number(&rates[1], words[at + 2]);
    if (!pace_csv_number(&bytes, words[0]) || bytes == 0) return PACE_OK;
    if (!pace_csv_number(&time_us, words[at]) || !(time_us > 0))
        return pace_fail(PACE_E_INPUT, "%s:%u: expected size, count, type and a time in us", r->rows->name, r->line);
    if (r->guesses) {
        if (!r->knows_collective && rated)
            pace_log_guess_collective(r, words[3], r->has_root ? words[at - 1] : "-1", rates[0], rates[1]);
        return PACE_OK;
    }
    if (!r->settled) PACE_TRY(pace_log_settle(r));
    if (rated) PACE_TRY(pace_log_check_bus(r, rates[0], rates[1]));
    pace_log_take_type(r, words[2]);
    if (at + 3 >= count || !pace_csv_number(&wrong, words[at + 3])) wrong = 0; /* "N/A": nobody looked */
    return pace_log_add(r, bytes, time_us, wrong);
}

/* Where a log was pasted the "#" before lines may be lost. */
static pace_status take_words(pace_log_reader *r, char **words, int count) {
    if (count > 0 && strcmp(words[0], "#") == 0) words++, count--;
    if (count > 1 && strncmp(words[0], "nThread", 7) == 0) return begin_run(r, words, count);
    if (count > 3 && strcmp(words[0], "Rank") == 0 && (strcmp(words[2], "Group") == 0 || strcmp(words[2], "Pid") == 0))
        return take_rank(r, words, count);
    if (take_header(r, words, count)) return PACE_OK;
    int at = time_at(r, words, count);
    return at ? take_row(r, words, at, count) : PACE_OK;
}

/* Launchers put a rank before every line, "[1,0]<stdout>:" or "0: ", or before each piece of one, "[0]". */
static char *without_rank(char *line) {
    char *at = line, *stream = *line == '[' ? strstr(line, ">:") : NULL;
    if (stream) return stream + 2;
    for (char *tag = strchr(line, '['); tag; tag = strchr(tag + 1, '[')) {
        size_t digits = strspn(tag + 1, "0123456789");
        if (digits > 0 && tag[digits + 1] == ']') memset(tag, ' ', digits + 2);
    }
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

static pace_status take_line(pace_log_reader *r, char *line) {
    char *words[PACE_LOG_WORDS];
    if (!r->defaults->collective) r->knows_collective |= pace_log_names_program(&r->common.collective, line);
    pace_log_note_version(r, line);
    int count = pace_log_split(without_rank(line), words), before = words_before(words, count);
    if (before) r->before = before;
    before = count > r->before && strcmp(words[0], "#") != 0 ? r->before : 0;
    return take_words(r, words + before, count - before);
}

/* What no line names large rows may tell, which come last. */
static pace_status guess_collective(pace_log_reader *r, const char *text) {
    r->guesses = true;
    PACE_TRY(pace_log_each_line(r, text, take_line));
    r->guesses = false;
    return begin_run(r, NULL, 0);
}

pace_status pace_log_read_nccl(pace_log_reader *r, const char *text) {
    if (!r->knows_collective) PACE_TRY(guess_collective(r, text));
    return pace_log_each_line(r, text, take_line);
}
