#include "ask/rows/measured_columns.h"

#include "ask/rows/column_words.h"
#include "base/order.h"
#include "base/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name that only has words of these kinds, and of others that tell nothing apart, is measured: when it has a time, a
 * unit or a pass. */
typedef enum { WORD_TIME, WORD_STATISTIC, WORD_FORWARD, WORD_BACKWARD, WORD_DATA, WORD_WEIGHT, WORD_BOTH, WORDS } word;

static const char *const word_keys[WORDS] = {"time", "statistic", "forward", "backward", "data", "weight", "both"};

/* What a name says. Columns of one pass compete: the one with the lowest rank is taken. */
typedef struct {
    pace_measured_column column;
    int rank;
} candidate;

enum { RANK_NO_UNIT = 100, RANK_FOREIGN = 500, RANK_RATE = 1000 };

static const pace_yaml_node *words_of(const pace_columns *columns, const char *key) {
    return pace_yaml_get(pace_yaml_get(columns->kernel, "measured"), key);
}

static double number_at(const pace_columns *columns, const pace_yaml_node *map, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    double value;
    return node && pace_yaml_number(&value, columns->yaml, node) == PACE_OK ? value : 0;
}

static void set_pass(pace_measured_column *out, const bool has[WORDS]) {
    out->pass = has[WORD_WEIGHT]     ? PACE_PASS_BACKWARD_WEIGHT
                : has[WORD_DATA]     ? PACE_PASS_BACKWARD_DATA
                : has[WORD_BACKWARD] ? PACE_PASS_BACKWARD
                : has[WORD_FORWARD]  ? PACE_PASS_FORWARD
                                     : PACE_PASSES;
    out->both = has[WORD_BOTH] || (has[WORD_FORWARD] && has[WORD_BACKWARD]);
    if (out->both) out->pass = PACE_PASSES;
}

/* "kernel_time_us", "fwd_us", "avg_ns", "us"; a statistic that stands for nothing else is ranked by the list. */
static bool read_time(candidate *out, const pace_columns *columns, const char *plain) {
    bool has[WORDS] = {false};
    char text[PACE_PLAIN_NAME], *rest = NULL;
    bool per = false; /* "tokens_per_sec" is no time */
    candidate found = {.rank = RANK_NO_UNIT};
    int statistic = pace_text_place(words_of(columns, "statistic"), "");
    snprintf(text, sizeof text, "%s", plain);
    for (char *at = strtok_r(text, "_", &rest); at; at = strtok_r(NULL, "_", &rest)) {
        double unit = number_at(columns, pace_yaml_get(columns->kernel, "units"), at);
        bool known = false;
        if (unit > 0 && per) return false;
        per = strcmp(at, "per") == 0;
        if (unit > 0 && found.column.unit_s == 0) {
            found.column.unit_s = unit;
            snprintf(found.column.unit, sizeof found.column.unit, "%.15s", at);
            found.rank -= RANK_NO_UNIT;
            continue;
        }
        for (int w = 0; w < WORDS && !known; w++) {
            int place = pace_text_place(words_of(columns, word_keys[w]), at);
            known = place >= 0;
            if (known) has[w] = true;
            if (known && w == WORD_STATISTIC) statistic = place;
        }
        if (known || pace_text_place(words_of(columns, "besides"), at) >= 0) continue;
        if (pace_text_place(words_of(columns, "never"), at) >= 0) return false;
        found.rank = found.rank < RANK_FOREIGN ? found.rank + RANK_FOREIGN : found.rank;
    }
    bool united = found.column.unit_s > 0, plainly = united && strcmp(found.column.unit, "s") != 0;
    /* "triton_matmul-latency", "cuBLAS us": of an implementation, where nothing says it plainly. "pad_s" is a size. */
    if (found.rank >= RANK_FOREIGN && !has[WORD_TIME] && !plainly) return false;
    bool passed = has[WORD_FORWARD] || has[WORD_BACKWARD] || has[WORD_BOTH];
    bool size = strcmp(plain, "s") == 0; /* of a filter or a sequence */
    if (size || (!has[WORD_TIME] && !united && !passed)) return false;
    found.rank += statistic >= 0 ? statistic : 0;
    set_pass(&found.column, has);
    *out = found;
    return true;
}

typedef struct {
    double per_s;
    pace_measured_kind kind;
    unsigned from, to; /* the words that say it */
} rate_words;

/* The longest run of words that is a rate's unit: "tflops", "gb" "s". */
static bool find_rate(rate_words *out, const pace_columns *columns, const pace_name_words *name) {
    for (unsigned length = name->count; length > 0; length--)
        for (unsigned from = 0; from + length <= name->count; from++) {
            char joined[PACE_PLAIN_NAME] = "";
            for (unsigned i = 0; i < length; i++) pace_append(joined, sizeof joined, "%s", name->word[from + i]);
            double flop = number_at(columns, words_of(columns, "flop_rates"), joined);
            double bytes = number_at(columns, words_of(columns, "byte_rates"), joined);
            if (!(flop > 0) && !(bytes > 0)) continue;
            *out = (rate_words){flop > 0 ? flop : bytes, flop > 0 ? PACE_MEASURED_FLOP_RATE : PACE_MEASURED_BYTE_RATE,
                                from, from + length};
            return true;
        }
    return false;
}

static void name_rate(char out[16], const rate_words *rate) {
    static const struct {
        double per_s;
        const char *prefix;
    } prefixes[] = {{1e15, "P"}, {1099511627776.0, "Ti"}, {1e12, "T"}, {1073741824.0, "Gi"},
                    {1e9, "G"},  {1048576.0, "Mi"}};
    size_t at = 0;
    while (at < PACE_COUNT(prefixes) && prefixes[at].per_s != rate->per_s) at++;
    snprintf(out, 16, "%s%s", at < PACE_COUNT(prefixes) ? prefixes[at].prefix : "M",
             rate->kind == PACE_MEASURED_FLOP_RATE ? "FLOP/s" : "B/s");
}

/* "tflops", "fwd_tflops", "flash2 GB/s"; of an implementation, "Triton TFLOPS", where nothing says it plainly. */
static bool read_rate(candidate *out, const pace_columns *columns, const char *plain) {
    pace_name_words name;
    rate_words rate;
    bool forward = false, backward = false, foreign = false;
    pace_name_words_cut(&name, plain);
    if (!find_rate(&rate, columns, &name)) return false;
    for (unsigned i = 0; i < name.count; i++) {
        if (i >= rate.from && i < rate.to) continue;
        const char *one = name.word[i];
        bool ahead = pace_text_place(words_of(columns, "forward"), one) >= 0;
        bool back = pace_text_place(words_of(columns, "backward"), one) >= 0;
        forward |= ahead;
        backward |= back;
        if (pace_text_place(words_of(columns, "never"), one) >= 0) return false;
        foreign |= !ahead && !back && pace_text_place(words_of(columns, "rate_besides"), one) < 0;
    }
    candidate found = {.rank = RANK_RATE + (rate.kind == PACE_MEASURED_BYTE_RATE) + (foreign ? RANK_FOREIGN : 0)};
    set_pass(&found.column, (const bool[WORDS]){[WORD_FORWARD] = forward, [WORD_BACKWARD] = backward});
    found.column.kind = rate.kind;
    found.column.unit_s = rate.per_s;
    name_rate(found.column.unit, &rate);
    *out = found;
    return true;
}

static bool same_question(const pace_measured_column *a, const pace_measured_column *b) {
    if (a->link || b->link) return false;
    return a->pass == b->pass && a->both == b->both;
}

/* Of columns with the same question the better; a rate only where there is no time at all. */
static void add(candidate *all, unsigned *count, const candidate *found) {
    for (unsigned i = 0; i < *count; i++) {
        if (!same_question(&all[i].column, &found->column)) continue;
        if (found->rank < all[i].rank) all[i] = *found;
        return;
    }
    if (*count < PACE_MEASURED_MOST) all[(*count)++] = *found;
}

/* "D2H pinned (GB/s)". Where sizes say an operation, such a column is a part of what it takes. */
static bool names_link(const pace_columns *columns, const char *name) {
    pace_op_words words = PACE_OP_NO_WORDS;
    return columns->op < 0 && !pace_columns_layout(columns, PACE_OP_UNKNOWN, PACE_COMPOUND_NONE, NULL) &&
           pace_columns_op(&words, columns, name) && words.op.family == PACE_OP_TRANSFER;
}

PACE_ORDER(by_column, pace_measured_column, PACE_UP(column))

/* A rate where times are. */
static bool is_spare(const candidate *all, unsigned count, const candidate *one) {
    for (unsigned i = 0; i < count; i++)
        if (one->rank >= RANK_RATE && all[i].rank < RANK_RATE) return true;
    return false;
}

pace_status pace_measured_find(pace_columns *columns, const pace_csv *csv) {
    candidate all[PACE_MEASURED_MOST];
    unsigned count = 0;
    for (size_t c = 0; c < csv->columns; c++) {
        char plain[PACE_PLAIN_NAME];
        candidate found;
        pace_plain_name(plain, pace_csv_name(csv, c));
        if ((int)c == columns->pass || (int)c == columns->op || (int)c == columns->unit) continue;
        if (!read_time(&found, columns, plain) && !read_rate(&found, columns, plain)) continue;
        found.column.column = (int)c;
        found.column.link = names_link(columns, pace_csv_name(csv, c));
        add(all, &count, &found);
    }
    for (unsigned i = 0; i < count; i++)
        if (!is_spare(all, count, &all[i])) columns->measured[columns->measured_count++] = all[i].column;
    qsort(columns->measured, columns->measured_count, sizeof *columns->measured, by_column);
    return PACE_OK;
}

bool pace_measured_tells_bytes(const pace_columns *columns) {
    for (unsigned i = 0; i < columns->measured_count; i++)
        if (columns->measured[i].kind != PACE_MEASURED_BYTE_RATE) return false;
    return columns->measured_count > 0;
}

bool pace_measured_links(const pace_columns *columns) {
    for (unsigned i = 0; i < columns->measured_count; i++)
        if (columns->measured[i].link) return true;
    return false;
}
