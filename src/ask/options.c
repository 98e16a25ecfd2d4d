#include "ask/options.h"
#include "ask/option_table.h"
#include "forecast/what_ifs.h"
#include "base/text.h"

#include <string.h>

/* Hyphens count as underscores. */
static bool is_named(const char *name, const char *word) {
    for (; *name && *word; name++, word++)
        if (*name != *word && !(*name == '_' && *word == '-')) return false;
    return !*name && !*word;
}

const pace_verb *pace_verb_at(size_t index) { return index < PACE_VERBS ? &pace_verb_table[index] : NULL; }

static unsigned bit_of(const char *verb) {
    for (unsigned i = 0; verb && i < PACE_VERBS; i++)
        if (strcmp(pace_verb_table[i].name, verb) == 0) return 1U << i;
    return 0;
}

/* The index-th option of the verbs, which are bits. */
static const pace_option *option_at(unsigned verbs, size_t index) {
    for (size_t i = 0; i < pace_option_table_count; i++) {
        const pace_option_row *row = &pace_option_table[i];
        if (!(row->verbs & verbs)) continue;
        size_t count = row->option.name ? 1 : pace_what_if_count;
        if (index < count) return row->option.name ? &row->option : &pace_what_ifs[index]->option;
        index -= count;
    }
    return NULL;
}

const pace_option *pace_option_at(const char *verb, size_t index) { return option_at(bit_of(verb), index); }

pace_status pace_verb_find(const pace_verb **out, const char *name) {
    const char *closest = pace_verb_table[0].name;
    for (size_t i = 0; i < PACE_VERBS; i++) {
        if (strcmp(pace_verb_table[i].name, name) == 0) {
            *out = &pace_verb_table[i];
            return PACE_OK;
        }
        closest = pace_word_nearer(name, closest, pace_verb_table[i].name);
    }
    return pace_fail(PACE_E_USAGE, "unknown verb \"%.80s\"; the closest is \"%s\"", name, closest);
}

const pace_option *pace_option_find(size_t *index, const char *verb, const char *name) {
    const pace_option *option;
    for (*index = 0; (option = pace_option_at(verb, *index)); ++*index)
        if (is_named(option->name, name)) return option;
    return NULL;
}

pace_status pace_option_unknown(const char *verb, const char *name) {
    const char *closest = "";
    const pace_option *option;
    for (size_t i = 0; (option = pace_option_at(verb, i)); i++) {
        if (option->role == PACE_OPTION_RENDERS && strcmp(option->name, name) == 0)
            return pace_fail(PACE_E_USAGE, "%s: says how a program shows an answer: no field of a question", name);
        if (option->role != PACE_OPTION_RENDERS) closest = pace_word_nearer(name, closest, option->name);
    }
    return pace_fail(PACE_E_USAGE, "%s has no field \"%.80s\": did you mean \"%s\"?", verb, name, closest);
}

const char *pace_message_field(void) {
    const char *message = pace_message();
    size_t length = strcspn(message, ":");
    const pace_option *option;
    for (size_t i = 0; message[length] && (option = option_at(~0U, i)); i++)
        if (strlen(option->name) == length && strncmp(option->name, message, length) == 0) return option->name;
    return "";
}

/* Writes "--drop-overhead" of "drop_overhead: ...": the letters and underscores there. Returns what is behind them. */
static const char *put_option(char **at, const char *end, const char *name) {
    for (int i = 0; i < 2 && *at < end; i++) *(*at)++ = '-';
    for (; ((*name >= 'a' && *name <= 'z') || *name == '_') && *at < end; name++) *(*at)++ = *name == '_' ? '-' : *name;
    return name;
}

const char *pace_message_as_options(char *out, size_t size, const char *verb) {
    size_t index;
    char *at = out, *end = out + size - 1;
    const char *from = pace_message_marked(), *field = pace_message_field();
    if (*field && pace_option_find(&index, verb, field)) from = put_option(&at, end, from);
    while (*from && at < end) {
        if (*from == *PACE_FIELD) from = put_option(&at, end, from + 1);
        else *at++ = *from++;
    }
    *at = '\0';
    return out;
}
