#include "ask/predict/exchange_words.h"
#include "base/words.h"
#include "base/decimal.h"
#include "base/sort.h"
#include "machine/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies a text that will be tokenised. */
static bool copied(char *out, size_t size, const char *text) {
    size_t length = strlen(text);
    if (length >= size) return false;
    memcpy(out, text, length + 1);
    return true;
}

/* "12.5" is no number of bytes; "1.5K" is. */
static bool read_size(double *out, const char *text) {
    double plain;
    return pace_parse_bytes(out, text) && (*out == floor(*out) || !pace_number_parse(&plain, text));
}

/* "1M", or "8..1G": both and, in between, the first doubled again and again. */
static pace_status read_word(bool *read, pace_sizes *out, char *word) {
    const double largest = 1e15; /* no memory of any machine holds more */
    double from, to;
    char *range = strstr(word, "..");
    if (range) *range = '\0';
    *read = read_size(&from, word) && from <= largest &&
            (!range || (read_size(&to, range + 2) && from > 0 && to >= from && to <= largest));
    if (*read && !range) return PACE_PUSH(out, from);
    if (!*read) return PACE_OK;
    for (double bytes = from; bytes < to; bytes *= 2) PACE_TRY(PACE_PUSH(out, bytes));
    return PACE_PUSH(out, to);
}

pace_status pace_read_sizes(pace_sizes *out, const char *text) {
    char words[256], *rest = NULL;
    bool read = copied(words, sizeof words, text);
    for (char *word = read ? strtok_r(words, ",", &rest) : NULL; word && read; word = strtok_r(NULL, ",", &rest))
        PACE_TRY(read_word(&read, out, word));
    if (read && out->count > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "bytes: expected sizes such as 8..1G, 1M,25MB or 0,8..1G, up to 1 PB, found \"%.60s\"", text);
}

void pace_sizes_in_order(pace_sizes *sizes) {
    size_t kept = 0;
    PACE_SORT(sizes, pace_ascending);
    for (size_t i = 0; i < sizes->count; i++) {
        double bytes = floor(sizes->items[i]);
        if (kept == 0 || sizes->items[kept - 1] != bytes) sizes->items[kept++] = bytes;
    }
    sizes->count = kept;
}

pace_status pace_read_collective(pace_collective *out, const char *text) {
    *out = PACE_ALLREDUCE;
    if (!text || pace_collective_find(out, text)) return PACE_OK;
    return pace_word_fail("collective", PACE_WORDS_OF(pace_collective_rows, name), "", text);
}

/* A plain number with nothing after it. */
static bool number(double *out, const char *text) {
    return strspn(text, "0123456789.") == strlen(text) && pace_number_parse(out, text);
}

static bool percentage(double *out, char *text) {
    size_t length = strlen(text);
    if (length < 2 || text[length - 1] != '%') return false;
    text[length - 1] = '\0';
    bool read = number(out, text);
    *out /= 100;
    return read;
}

pace_status pace_read_straggler(double *slowness, uint32_t ranks, const char *text) {
    char words[64], *colon;
    double share, rate = 0, rank;
    if (copied(words, sizeof words, text) && (colon = strchr(words, ':'))) {
        *colon = '\0';
        bool rated = number(&rate, colon + 1) && rate > 0 && rate <= 1;
        bool shared = strchr(words, '%') != NULL;
        if (rated && shared && percentage(&share, words) && share > 0 && share <= 1) {
            double count = fmax(1, floor(share * ranks + 0.5));
            for (double i = 0; i < count; i++) slowness[(uint32_t)((i + 0.5) * ranks / count)] = 1 / rate;
            return PACE_OK;
        }
        if (rated && !shared && number(&rank, words) && rank < ranks && rank == floor(rank)) {
            slowness[(uint32_t)rank] = 1 / rate;
            return PACE_OK;
        }
    }
    return pace_fail(PACE_E_USAGE,
                     "straggler: expected SHARE%%:RATE or RANK:RATE, as 1%%:0.5 or 7:0.5, of the %u ranks, found "
                     "\"%.40s\"",
                     ranks, text);
}

pace_status pace_read_background(pace_backgrounds *out, double *share, const char *text) {
    char words[96], *dash, *colon;
    double from, to, rate;
    if (copied(words, sizeof words, text)) {
        if (percentage(share, words)) return PACE_OK;
        dash = strchr(words, '-');
        colon = strchr(words, ':');
        if (dash && colon && dash < colon) {
            *dash = *colon = '\0';
            if (number(&from, words) && number(&to, dash + 1) && from < UINT32_MAX && to < UINT32_MAX && from != to &&
                pace_parse_rate(&rate, colon + 1))
                return PACE_PUSH(out, ((pace_background){(uint32_t)from, (uint32_t)to, rate}));
        }
    }
    return pace_fail(PACE_E_USAGE,
                     "background: expected a share of the network or a flow between ranks, as 30%% or "
                     "0-8:10GB/s, found \"%.60s\"",
                     text);
}
