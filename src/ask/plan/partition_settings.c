#include "ask/plan/partition_settings.h"
#include "base/decimal.h"
#include "model/config.h"

#include <math.h>
#include <string.h>

static pace_status read_whole(double *out, const char *key, const char *value, double least) {
    if (pace_number_parse(out, value) && *out == floor(*out) && *out >= least && *out <= 1e9) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected a whole number from %.0f, found \"%.40s\"", key, least, value);
}

static pace_status read_exchange(int *out, const char *value) {
    int word = 0;
    while (pace_partition_exchange_names[word] && strcmp(pace_partition_exchange_names[word], value) != 0) word++;
    if (!pace_partition_exchange_names[word])
        return pace_fail(PACE_E_USAGE, "exchange: expected one of async, sync, stale, found \"%.40s\"", value);
    *out = word;
    return PACE_OK;
}

/* "4" or "4/4/1". */
static pace_status read_segments(pace_partition_settings *s, const char *value) {
    char number[16];
    s->segment_count = 0;
    for (const char *at = value; at; at = at[strcspn(at, "/")] ? at + strcspn(at, "/") + 1 : NULL) {
        size_t length = strcspn(at, "/");
        if (length == 0 || length >= sizeof number || s->segment_count == PACE_PARTITION_LAYERS)
            return pace_fail(PACE_E_USAGE, "segments: expected numbers such as 4 or 4/4/1, found \"%.60s\"", value);
        memcpy(number, at, length);
        number[length] = '\0';
        PACE_TRY(read_whole(&s->segments[s->segment_count++], "segments", number, 1));
    }
    return PACE_OK;
}

static pace_status refuse(const char *key) {
    return pace_fail(
        PACE_E_USAGE,
        "set: %.40s has no effect on hosts: expected dp, tp, threads, segments, servers, exchange, staleness, "
        "global_batch, or a parameter of the model",
        key);
}

static pace_status read_word(pace_partition_settings *s, const char *word) {
    char key[64];
    size_t length = strcspn(word, "=");
    const char *value = word + length + 1;
    if (word[length] != '=' || length == 0 || !*value || length >= sizeof key)
        return pace_fail(PACE_E_USAGE, "set: expected KEY=VALUE, found '%.80s'", word);
    memcpy(key, word, length);
    key[length] = '\0';
    const struct {
        const char *key;
        double *value;
        double least;
    } numbers[] = {{"dp", &s->fixed.replicas, 1},     {"tp", &s->fixed.workers, 1},
                   {"threads", &s->fixed.threads, 1}, {"servers", &s->fixed.servers, 0},
                   {"staleness", &s->staleness, 1},   {"global_batch", &s->global_batch, 1}};
    for (size_t i = 0; i < PACE_COUNT(numbers); i++)
        if (strcmp(key, numbers[i].key) == 0) return read_whole(numbers[i].value, key, value, numbers[i].least);
    if (strcmp(key, "exchange") == 0) return read_exchange(&s->exchange, value);
    if (strcmp(key, "segments") == 0) return read_segments(s, value);
    if (pace_config_has(key) || strcmp(key, "framework") == 0) return refuse(key);
    return PACE_PUSH(&s->others_list, word);
}

pace_status pace_partition_settings_read(pace_partition_settings *out, const pace_words *set) {
    out->fixed.servers = -1;
    out->exchange = -1;
    for (size_t i = 0; i < set->count; i++) PACE_TRY(read_word(out, set->items[i]));
    if (out->staleness > 0 && out->exchange != PACE_PARTITION_STALE)
        return pace_fail(PACE_E_USAGE, "staleness: has no effect without exchange=stale");
    if (out->exchange == PACE_PARTITION_STALE && !(out->staleness > 0))
        return pace_fail(PACE_E_USAGE, "exchange: stale needs staleness, how many exchanges a replica may be ahead");
    out->others = (pace_words){(const char *const *)out->others_list.items, out->others_list.count};
    return PACE_OK;
}

void pace_partition_settings_free(pace_partition_settings *settings) { PACE_VEC_FREE(&settings->others_list); }
