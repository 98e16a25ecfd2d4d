#include "ask/options.h"

#include "ask/option_table.h"

#include <string.h>

/* Hyphens count as underscores. */
static bool is_named(const char *name, const char *word) {
    for (; *name && *word; name++, word++)
        if (*name != *word && !(*name == '_' && *word == '-')) return false;
    return !*name && !*word;
}

const pace_verb *pace_verb_at(size_t index) { return index < PACE_VERBS ? &pace_verb_table[index] : NULL; }

static unsigned bit_of(const char *verb) {
    for (unsigned i = 0; i < PACE_VERBS; i++)
        if (strcmp(pace_verb_table[i].name, verb) == 0) return 1U << i;
    return 0;
}

const pace_option *pace_option_at(const char *verb, size_t index) {
    unsigned bit = bit_of(verb);
    for (size_t i = 0; i < pace_option_table_count; i++)
        if ((pace_option_table[i].verbs & bit) && index-- == 0) return &pace_option_table[i].option;
    return NULL;
}

pace_status pace_verb_find(const pace_verb **out, const char *name) {
    const char *closest = pace_verb_table[0].name;
    for (size_t i = 0; i < PACE_VERBS; i++) {
        if (strcmp(pace_verb_table[i].name, name) == 0) {
            *out = &pace_verb_table[i];
            return PACE_OK;
        }
        if (pace_word_edits(name, pace_verb_table[i].name) < pace_word_edits(name, closest))
            closest = pace_verb_table[i].name;
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
    for (size_t i = 0; (option = pace_option_at(verb, i)); i++)
        if (!*closest || pace_word_edits(name, option->name) < pace_word_edits(name, closest)) closest = option->name;
    return pace_fail(PACE_E_USAGE, "%s has no field \"%.80s\": did you mean \"%s\"?", verb, name, closest);
}

const char *pace_message_field(void) {
    const char *message = pace_message();
    size_t length = strcspn(message, ":");
    for (size_t i = 0; message[length] && i < pace_option_table_count; i++) {
        const char *name = pace_option_table[i].option.name;
        if (strlen(name) == length && strncmp(name, message, length) == 0) return name;
    }
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
