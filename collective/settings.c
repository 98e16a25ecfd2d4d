#include "settings.h"

#include "base/decimal.h"
#include "base/pieces.h"
#include "base/text.h"
#include "exchange/algorithms.h"

#include <math.h>
#include <string.h>

static const char *const way_names[PACE_WAY_PROGRAM] = {"flat", "staged", "copy", "two_level", "mpi"};
static const char *const chosen_names[PACE_CHOSEN] = {
    [PACE_ALLREDUCE] = "allreduce", [PACE_ALLGATHER] = "all_gather", [PACE_REDUCESCATTER] = "reduce_scatter",
    [PACE_BROADCAST] = "broadcast", [PACE_REDUCE] = "reduce",        [PACE_BARRIER] = "barrier"};

const char *pace_chosen_name(int collective) {
    return collective >= 0 && collective < PACE_CHOSEN ? chosen_names[collective] : NULL;
}

const char *pace_way_name(int way) {
    if (way < 0) return NULL;
    if (way < PACE_WAY_PROGRAM) return way_names[way];
    size_t row = (size_t)(way - PACE_WAY_PROGRAM);
    return row < pace_exchange_algorithm_count ? pace_exchange_algorithms[row].name : NULL;
}

static pace_status wrong(const char *where, pace_piece found, const char *expected) {
    return pace_fail(PACE_E_USAGE, "%s: expected %s, found '%.*s'", where, expected, (int)found.length, found.at);
}

static int find_way(pace_piece p, int collective) {
    for (int way = 0; way < PACE_WAY_PROGRAM; way++)
        if (pace_span_is(p.at, p.length, way_names[way])) return way;
    for (size_t row = 0; row < pace_exchange_algorithm_count; row++) {
        const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
        bool can = collective < PACE_COLLECTIVES && (a->collectives >> collective & 1) && a->program && !a->in_switch;
        if (can && pace_span_is(p.at, p.length, a->name)) return PACE_WAY_PROGRAM + (int)row;
    }
    return -1;
}

/* "flat:8K" or "ring". */
static pace_status read_choice(pace_choices *choices, int collective, pace_piece p, const char *where) {
    const char *at = p.at;
    pace_piece name, size;
    pace_choice choice = {UINT64_MAX, -1};
    if (choices->count == PACE_MOST_CHOICES) return wrong(where, p, "at most 8 choices");
    if (pace_piece_cut(&name, &at, p.at + p.length, ":")) choice.way = find_way(name, collective);
    if (choice.way < 0) return wrong(where, p, "an algorithm of this collective (docs/collective.md lists them)");
    if (pace_piece_cut(&size, &at, p.at + p.length, "") && !pace_piece_bytes(&choice.up_to_bytes, size))
        return wrong(where, size, "a size such as 8K, 1M");
    if (choices->count && choices->of[choices->count - 1].up_to_bytes >= choice.up_to_bytes)
        return wrong(where, p, "sizes that grow, the last choice without one");
    choices->of[choices->count++] = choice;
    return PACE_OK;
}

static pace_status read_choices(pace_settings *s, int collective, pace_piece value, const char *where) {
    pace_choices choices = {0};
    const char *at = value.at;
    for (pace_piece p; pace_piece_cut(&p, &at, value.at + value.length, ",");)
        PACE_TRY(read_choice(&choices, collective, p, where));
    if (!choices.count) return wrong(where, value, "an algorithm");
    s->choices[collective] = choices;
    return PACE_OK;
}

/* What is said last counts, over a table's "none", too. */
static pace_status read_shm(pace_settings *s, pace_piece value, const char *where) {
    s->no_shm = false;
    if (pace_span_is(value.at, value.length, "memfd")) s->shm = PACE_SHM_MEMFD;
    else if (pace_span_is(value.at, value.length, "posix")) s->shm = PACE_SHM_POSIX;
    else if (pace_span_is(value.at, value.length, "none")) s->no_shm = true;
    else return wrong(where, value, "shm=memfd, shm=posix or shm=none");
    return PACE_OK;
}

static pace_status read_number(double *out, pace_piece value, double most, const char *where) {
    const char *end = pace_decimal_read(out, value.at, value.at + value.length);
    if (!end || end != value.at + value.length || *out < 0 || *out > most)
        return wrong(where, value, "a number of at least 0");
    return PACE_OK;
}

static pace_status read_spin(pace_settings *s, pace_piece value, const char *where) {
    double number;
    PACE_TRY(read_number(&number, value, UINT32_MAX, where));
    if (number != floor(number)) return wrong(where, value, "a whole number");
    s->spin = (uint32_t)number;
    return PACE_OK;
}

static pace_status read_parcel(pace_settings *s, pace_piece value, const char *where) {
    if (pace_piece_bytes(&s->parcel_bytes, value) && s->parcel_bytes >= PACE_LEAST_PARCEL) return PACE_OK;
    return wrong(where, value, "a size of at least 8K");
}

enum { SHM = PACE_CHOSEN, SPIN, TIMEOUT, PARCEL, NAMES };

static int find_name(pace_piece name) {
    static const char *const others[] = {"shm", "spin", "timeout", "parcel"};
    for (int i = 0; i < NAMES; i++) {
        const char *one = i < PACE_CHOSEN ? chosen_names[i] : others[i - PACE_CHOSEN];
        if (one && pace_span_is(name.at, name.length, one)) return i;
    }
    return -1;
}

static pace_status read_pair(pace_settings *s, unsigned *said, pace_piece name, pace_piece value, const char *where) {
    int which = find_name(name);
    if (which < 0) return wrong(where, name, "a collective, shm, spin, parcel or timeout before '='");
    if (*said >> which & 1) return wrong(where, name, "each setting once");
    *said |= 1u << which;
    switch (which) {
    case SHM: return read_shm(s, value, where);
    case SPIN: return read_spin(s, value, where);
    case TIMEOUT: return read_number(&s->patience_s, value, 1e9, where);
    case PARCEL: return read_parcel(s, value, where);
    default: return read_choices(s, which, value, where);
    }
}

static pace_status read_word(pace_settings *s, pace_piece word, const char *where) {
    if (pace_span_is(word.at, word.length, "off")) s->off = true;
    else if (pace_span_is(word.at, word.length, "check")) s->check = true;
    else if (pace_span_is(word.at, word.length, "nocopy")) s->no_copy = true;
    else if (word.length) return wrong(where, word, "off, check, nocopy or NAME=VALUE");
    return PACE_OK;
}

pace_status pace_settings_read(pace_settings *settings, const char *text, const char *where) {
    pace_settings read = *settings;
    const char *stop = text + strlen(text);
    unsigned said = 0; /* by this text: settings that were there before are said anew */
    for (pace_piece item; pace_piece_cut(&item, &text, stop, ";\n");) {
        const char *at = item.at, *end = item.at + item.length;
        pace_piece name, value;
        pace_piece_cut(&name, &at, end, "=");
        bool pair = item.length && memchr(item.at, '=', item.length);
        if (item.length && item.at[0] == '#') continue;
        if (!pair) PACE_TRY(read_word(&read, item, where));
        else if (pace_piece_cut(&value, &at, end, "")) PACE_TRY(read_pair(&read, &said, name, value, where));
        else return wrong(where, item, "a value behind '='");
    }
    *settings = read;
    return PACE_OK;
}

int pace_settings_way(const pace_settings *settings, int collective, uint64_t bytes) {
    const pace_choices *choices = &settings->choices[collective];
    for (int i = 0; i < choices->count; i++)
        if (bytes <= choices->of[i].up_to_bytes) return choices->of[i].way;
    return -1;
}
