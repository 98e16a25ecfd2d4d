#include "arguments.h"
#include "output.h"
#include "say.h"

#include <stdio.h>
#include <string.h>

const char *cli_option_name(char out[64], const pace_option *option) {
    snprintf(out, 64, "--%s", option->name);
    for (char *c = out; *c; c++)
        if (*c == '_') *c = '-';
    return out;
}

static void print_help(const pace_verb *verb) {
    const pace_option *option;
    const char *heading = NULL;
    printf("usage: paceline %s [options] %s\n\n%s\n\noptions:\n", verb->name, verb->operands, verb->help);
    for (size_t i = 0; (option = pace_option_at(verb->name, i)); i++) {
        char left[96], name[64];
        if (option->heading && (!heading || strcmp(heading, option->heading) != 0)) printf("\n%s:\n", option->heading);
        heading = option->heading;
        cli_option_name(name, option);
        int used = option->letter ? snprintf(left, sizeof left, "-%c, %s", option->letter, name)
                                  : snprintf(left, sizeof left, "    %s", name);
        if (option->argument) snprintf(left + used, sizeof left - (size_t)used, " %s", option->argument);
        printf("  %-28s %s\n", left, option->help);
    }
    printf("  %-28s %s\n", "-h, --help", "this text");
}

static bool is_named(const pace_option *option, const char *word, size_t length) {
    char name[64];
    cli_option_name(name, option);
    if (strlen(name) == length && strncmp(name, word, length) == 0) return true;
    return length == 2 && word[0] == '-' && option->letter && word[1] == option->letter;
}

static const pace_option *find(const pace_verb *verb, const char *word, size_t length) {
    const pace_option *option;
    for (size_t i = 0; (option = pace_option_at(verb->name, i)); i++)
        if (is_named(option, word, length)) return option;
    return NULL;
}

bool cli_is_slip(const char *word, const char *name) {
    size_t length = strlen(name);
    return pace_word_edits(word, name) <= (length < 6 ? 1 : length / 3);
}

/* "--json" for "--format json", "-fjson" and "-qf": what was meant. */
static bool unknown_form(const pace_verb *verb, const char *word) {
    size_t number;
    bool has_format = find(verb, "--format", strlen("--format")) != NULL;
    if (has_format && pace_option_word_find(&number, verb->name, "format", word + 2) == PACE_OK)
        cli_say("paceline %s: unknown option '%.80s' (did you mean --format %s?)", verb->name, word, word + 2);
    else if (word[1] != '-' && find(verb, word, 2))
        cli_say(
            "paceline %s: unknown option '%.80s': expected a blank behind %.2s, before its value or the next option",
            verb->name, word, word);
    else return false;
    return true;
}

static bool unknown(const pace_verb *verb, const char *word) {
    const pace_option *option;
    char nearest[64] = "--help", name[64];
    if (strlen(word) > 2 && unknown_form(verb, word)) return false;
    for (size_t i = 0; (option = pace_option_at(verb->name, i)); i++)
        if (pace_word_edits(word, cli_option_name(name, option)) < pace_word_edits(word, nearest))
            memcpy(nearest, name, sizeof nearest);
    bool slip = cli_is_slip(word, nearest);
    bool has_settings = !slip && find(verb, "--set", strlen("--set"));
    cli_say("paceline %s: unknown option '%.80s' (%s%s%ssee 'paceline %s --help'%s)", verb->name, word,
            slip ? "did you mean " : "", slip ? nearest : "", slip ? "? " : "", verb->name,
            has_settings ? "; --set KEY=VALUE sets what is run, such as tp=8 or micro_batch=16" : "");
    return false;
}

static bool refuse_second(const cli_arguments *arguments, const pace_option *option, const char *value) {
    char name[64];
    cli_say("paceline %s: %s: given twice, the second time as '%.80s': expected it once", arguments->verb->name,
            cli_option_name(name, option), value);
    return false;
}

static bool keep_output(cli_arguments *arguments, const pace_option *option, const char *value) {
    cli_output *output = &arguments->output;
    if (strcmp(option->name, "quiet") == 0) output->quiet = true;
    if (strcmp(option->name, "strict") == 0) output->strict = true;
    if (option->type == PACE_OPTION_FLAG) return true;
    const char **of = strcmp(option->name, "format") == 0   ? &output->format
                      : strcmp(option->name, "output") == 0 ? &output->path
                                                            : &output->table;
    if (*of && strcmp(*of, value) != 0) return refuse_second(arguments, option, value);
    *of = value;
    return true;
}

static bool store(cli_arguments *arguments, pace_question *question, const pace_option *option, const char *value) {
    bool rows = strcmp(arguments->verb->name, "calibrate") == 0 && strcmp(option->name, "output") == 0; /* verb.c */
    if (option->role == PACE_OPTION_RENDERS || rows) return keep_output(arguments, option, value);
    bool once = option->type == PACE_OPTION_TEXT || option->type == PACE_OPTION_NUMBER;
    if (once && pace_question_has(question, option->name)) return refuse_second(arguments, option, value);
    if (option->role == PACE_OPTION_WRITES && arguments->written_count < 8) {
        arguments->written_by[arguments->written_count] = option;
        arguments->written[arguments->written_count++] = value;
    }
    pace_status status =
        value ? pace_question_set(question, option->name, value) : pace_question_set_flag(question, option->name, true);
    if (status != PACE_OK) cli_fail(arguments->verb->name, status);
    return status == PACE_OK;
}

/* The option of a word that begins with a hyphen, and its value, in the same word or the next. */
static bool read_option(cli_arguments *arguments, pace_question *question, int *at) {
    const char *word = arguments->words[*at], *verb = arguments->verb->name;
    const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    const pace_option *option = find(arguments->verb, word, equals ? (size_t)(equals - word) : strlen(word));
    char name[64];
    if (!option) return unknown(arguments->verb, word);
    cli_option_name(name, option);
    if (option->type == PACE_OPTION_FLAG) {
        if (equals) cli_say("paceline %s: %s takes no value", verb, name);
        return !equals && store(arguments, question, option, NULL);
    }
    const char *value = equals ? equals + 1 : *at + 1 < arguments->count ? arguments->words[++*at] : NULL;
    if (!value) {
        cli_say("paceline %s: %s: expected %s, found the end of the command", verb, name, option->argument);
        return false;
    }
    if (!equals && find(arguments->verb, value, strlen(value))) {
        cli_say("paceline %s: %s: expected %s, found the option %s (%s=%s if it is meant so)", verb, name,
                option->argument, value, name, value);
        return false;
    }
    return store(arguments, question, option, value);
}

bool cli_parse(cli_arguments *arguments, pace_question *question) {
    bool only_operands = false;
    for (int i = 0; i < arguments->count; i++) {
        const char *word = arguments->words[i];
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            arguments->words[arguments->operands++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_operands = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(arguments->verb);
            arguments->helped = true;
            return true;
        }
        if (!read_option(arguments, question, &i)) return false;
    }
    for (int i = 0; i < arguments->operands; i++)
        if (pace_question_add_input(question, arguments->words[i]) != PACE_OK) return false;
    return true;
}
