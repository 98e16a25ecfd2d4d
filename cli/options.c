#include "options.h"
#include "say.h"

#include "paceline/paceline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(const char *verb, const char *operands, const char *summary, const cli_option *options,
                       size_t count) {
    printf("usage: paceline %s [options] %s\n\n%s\n\noptions:\n", verb, operands, summary);
    for (size_t i = 0; i < count; i++) {
        char left[64];
        if (options[i].type == OPTION_HEADING) {
            printf("\n%s:\n", options[i].name);
            continue;
        }
        int used = options[i].letter ? snprintf(left, sizeof left, "-%c, %s", options[i].letter, options[i].name)
                                     : snprintf(left, sizeof left, "    %s", options[i].name);
        if (options[i].argument) snprintf(left + used, sizeof left - (size_t)used, " %s", options[i].argument);
        printf("  %-28s %s\n", left, options[i].help);
    }
    printf("  %-28s %s\n", "-h, --help", "this text");
}

static const cli_option *find(const cli_option *options, size_t count, const char *word, size_t length) {
    for (size_t i = 0; i < count; i++) {
        if (options[i].type == OPTION_HEADING) continue;
        if (strlen(options[i].name) == length && strncmp(options[i].name, word, length) == 0) return &options[i];
        if (length == 2 && word[0] == '-' && options[i].letter && word[1] == options[i].letter) return &options[i];
    }
    return NULL;
}

bool cli_is_slip(const char *word, const char *name) {
    size_t length = strlen(name);
    return pace_word_edits(word, name) <= (length < 6 ? 1 : length / 3);
}

static int unknown(const char *verb, const cli_option *options, size_t count, const char *word) {
    const char *nearest = "--help";
    for (size_t i = 0; i < count; i++)
        if (options[i].type != OPTION_HEADING &&
            pace_word_edits(word, options[i].name) < pace_word_edits(word, nearest))
            nearest = options[i].name;
    const char *near[] = {"did you mean ", nearest, "? "}, *const far[] = {"", "", ""};
    const char *const *hint = cli_is_slip(word, nearest) ? near : far;
    cli_say("paceline %s: unknown option '%.80s' (%s%s%s"
            "see 'paceline %s --help')",
            verb, word, hint[0], hint[1], hint[2], verb);
    return -1;
}

static int store(const char *verb, const cli_option *option, const char *value) {
    if (option->type == OPTION_TEXT) {
        *(const char **)option->target = value;
        return 0;
    }
    if (option->type == OPTION_LIST) {
        cli_list *list = option->target;
        if (list->count == CLI_LIST) {
            cli_say("paceline %s: %s: expected at most %d of them", verb, option->name, (int)CLI_LIST);
            return -1;
        }
        list->items[list->count++] = value;
        return 0;
    }
    char *end;
    double number = strtod(value, &end);
    if (*value == '\0' || *end != '\0' || !(number >= 0) || number > 1e18) {
        cli_say("paceline %s: %s: expected a number of at least 0, found '%.80s'", verb, option->name, value);
        return -1;
    }
    *(double *)option->target = number;
    return 0;
}

int cli_parse(const char *verb, const char *operands, const char *summary, const cli_option *options, size_t count,
              const char **words, int word_count, bool *helped) {
    int kept = 0;
    bool only_operands = false;
    *helped = false;
    for (int i = 0; i < word_count; i++) {
        const char *word = words[i];
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            words[kept++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_operands = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(verb, operands, summary, options, count);
            *helped = true;
            return 0;
        }
        const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
        const cli_option *option = find(options, count, word, equals ? (size_t)(equals - word) : strlen(word));
        if (!option) return unknown(verb, options, count, word);
        if (option->type == OPTION_FLAG) {
            if (equals) {
                cli_say("paceline %s: %s takes no value", verb, option->name);
                return -1;
            }
            *(bool *)option->target = true;
            continue;
        }
        const char *value = equals ? equals + 1 : i + 1 < word_count ? words[++i] : NULL;
        if (!value) {
            cli_say("paceline %s: %s: expected %s, found the end of the command", verb, option->name, option->argument);
            return -1;
        }
        if (store(verb, option, value) != 0) return -1;
    }
    return kept;
}
