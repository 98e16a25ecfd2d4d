#include "ask/question.h"
#include "base/decimal.h"
#include "base/text.h"
#include "machine/machine.h"
#include "model/model_settings.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ITEMS = 64 };

pace_status pace_question_new(pace_question **out, pace_context *context, const char *verb) {
    PACE_GIVEN(out);
    PACE_GIVEN(verb);
    const pace_verb *found;
    PACE_TRY(pace_verb_find(&found, verb));
    pace_question *question = pace_alloc(1, sizeof *question);
    if (!question) return PACE_E_MEMORY;
    question->verb = found;
    question->context = context;
    while (pace_option_at(verb, question->count)) question->count++;
    if (!PACE_MAKE(question->values, question->count)) {
        pace_free(question);
        return PACE_E_MEMORY;
    }
    *out = question;
    return PACE_OK;
}

void pace_question_free(pace_question *question) {
    if (!question) return;
    for (size_t i = 0; i < question->count; i++) pace_texts_free(&question->values[i].texts);
    pace_free(question->values);
    pace_texts_free(&question->inputs);
    pace_texts_free(&question->command);
    pace_free(question);
}

/* --- setting ------------------------------------------------------------------------------------------------------ */

static pace_status find(const pace_option **out, pace_field_value **value, pace_question *question, const char *field) {
    PACE_GIVEN(question);
    PACE_GIVEN(field);
    size_t index;
    const pace_option *option = pace_option_find(&index, question->verb->name, field);
    if (!option || option->role == PACE_OPTION_RENDERS) return pace_option_unknown(question->verb->name, field);
    *out = option;
    *value = &question->values[index];
    return PACE_OK;
}

/* What an option writes has a suffix of the family that its argument ("FILE.json") is of; the first says what it is. */
static pace_status check_suffix(const pace_option *option, const char *path) {
    static const char *const families[][3] = {
        {".json", ".json.gz", ".json.zst"}, {".csv"}, {".yaml", ".yml"}, {".sqlite", ".sqlite3", ".db"}, {".et"}};
    const char *const *family = NULL;
    char expected[48] = "";
    for (size_t i = 0; option->role == PACE_OPTION_WRITES && i < PACE_COUNT(families); i++)
        for (size_t k = 0; k < 3 && families[i][k]; k++)
            if (pace_has_suffix(option->argument, families[i][k])) family = families[i];
    for (size_t k = 0; family && k < 3 && family[k]; k++) {
        if (pace_has_suffix(path, family[k]) && strlen(path) > strlen(family[k])) return PACE_OK;
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%s", k ? " or " : "", family[k]);
    }
    if (!family) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected a name that ends with %s, found '%.200s'", option->name, expected,
                     path);
}

/* An empty expression matches everything; of any other text nothing was meant. */
static pace_status add_text(pace_field_value *value, const pace_option *option, const char *text) {
    if (text[strspn(text, " \t")] == '\0' && strcmp(option->argument, "REGEX") != 0)
        return pace_fail(PACE_E_USAGE, "%s: expected %s, found \"%s\"", option->name, option->argument, text);
    PACE_TRY(check_suffix(option, text));
    if (option->type == PACE_OPTION_TEXT) pace_texts_free(&value->texts);
    if (strcmp(option->name, "set") == 0)
        PACE_TRY(pace_settings_check_once((const char *const *)value->texts.items, value->texts.count, text));
    if (value->texts.count == MOST_ITEMS)
        return pace_fail(PACE_E_LIMIT, "%s: expected at most %d of them", option->name, (int)MOST_ITEMS);
    PACE_TRY(pace_texts_add(&value->texts, text));
    value->said = true;
    return PACE_OK;
}

/* How much of "tp=8,pp=4" is its first setting: a comma ends it where another key and "=" follow. */
static size_t first_setting(const char *text) {
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        size_t key = strspn(comma + 1, "abcdefghijklmnopqrstuvwxyz0123456789_.");
        if (key && comma[1 + key] == '=') return (size_t)(comma - text);
    }
    return strlen(text);
}

static pace_status add_settings(pace_field_value *value, const pace_option *option, const char *text) {
    pace_status status = PACE_OK;
    for (size_t length; status == PACE_OK; text += length + 1) {
        length = first_setting(text);
        char *one = pace_copy_text(text, length);
        if (!one) return PACE_E_MEMORY;
        status = add_text(value, option, one);
        pace_free(one);
        if (!text[length]) break;
    }
    return status;
}

static pace_status read_flag(bool *out, const pace_option *option, const char *text) {
    *out = strcmp(text, "true") == 0;
    if (*out || strcmp(text, "false") == 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: expected true or false, found '%.80s'", option->name, text);
}

/* Of a number in bytes or seconds, which may be said with another unit of them; -1 of others. */
static int dimension_of(const pace_option *option) {
    if (option->unit && strcmp(option->unit, "bytes") == 0) return PACE_IN_BYTES;
    return option->unit && strcmp(option->unit, "seconds") == 0 ? PACE_IN_S : -1;
}

static bool read_number(double *out, const pace_option *option, const char *text) {
    int dimension = dimension_of(option);
    return pace_number_parse(out, text) || (dimension >= 0 && pace_parse_figure(out, text, (pace_dimension)dimension));
}

pace_status pace_question_set_number(pace_question *question, const char *field, double number) {
    const pace_option *option = NULL;
    pace_field_value *value = NULL;
    PACE_TRY(find(&option, &value, question, field));
    if (option->type != PACE_OPTION_NUMBER) return pace_fail(PACE_E_USAGE, "%s: is no number", option->name);
    if (!(number >= 0) || number > 1e18)
        return pace_fail(PACE_E_USAGE, "%s: expected a number from 0 to 1e18, found %g", option->name, number);
    value->said = true;
    value->number = number;
    return PACE_OK;
}

pace_status pace_question_set_flag(pace_question *question, const char *field, bool said) {
    const pace_option *option = NULL;
    pace_field_value *value = NULL;
    PACE_TRY(find(&option, &value, question, field));
    if (option->type != PACE_OPTION_FLAG) return pace_fail(PACE_E_USAGE, "%s: takes a value", option->name);
    value->said = said;
    return PACE_OK;
}

pace_status pace_question_set(pace_question *question, const char *field, const char *text) {
    PACE_GIVEN(text);
    const pace_option *option = NULL;
    pace_field_value *value = NULL;
    double number;
    PACE_TRY(find(&option, &value, question, field));
    switch (option->type) {
    case PACE_OPTION_FLAG: return read_flag(&value->said, option, text);
    case PACE_OPTION_NUMBER:
        if (!read_number(&number, option, text) || !(number >= 0) || number > 1e18)
            return pace_fail(PACE_E_USAGE, "%s: expected a number from 0 to 1e18%s, found '%.80s'", option->name,
                             dimension_of(option) >= 0 ? ", with or without its unit" : "", text);
        return pace_question_set_number(question, field, number);
    default: return (strcmp(option->name, "set") == 0 ? add_settings : add_text)(value, option, text);
    }
}

pace_status pace_question_add_input(pace_question *question, const char *input) {
    PACE_GIVEN(question);
    PACE_GIVEN(input);
    return pace_texts_add(&question->inputs, input);
}

pace_status pace_question_set_command(pace_question *question, const char *const *words, size_t count) {
    PACE_GIVEN(question);
    for (size_t i = 0; i < count; i++) PACE_GIVEN(words && words[i]);
    pace_texts_free(&question->command);
    for (size_t i = 0; i < count; i++) PACE_TRY(pace_texts_add(&question->command, words[i]));
    return PACE_OK;
}

void pace_question_set_progress(pace_question *question, pace_progress_fn progress, void *context) {
    question->progress = (pace_progress){progress, context};
}

void pace_question_set_stop(pace_question *question, bool (*stop)(void *context), void *context) {
    question->stop = stop;
    question->stop_context = context;
}

void pace_question_set_processes(pace_question *question, const pace_processes *processes) {
    question->processes = processes;
}

const pace_processes *pace_question_processes(const pace_question *question) { return question->processes; }

/* --- reading ------------------------------------------------------------------------------------------------------ */

static const pace_field_value *value_of(const pace_question *question, const char *field) {
    static const pace_field_value none;
    size_t index;
    return question && field && pace_option_find(&index, question->verb->name, field) ? &question->values[index]
                                                                                      : &none;
}

const char *pace_question_verb(const pace_question *question) { return question->verb->name; }

const char *pace_question_text(const pace_question *question, const char *field) {
    const pace_field_value *value = value_of(question, field);
    return value->texts.count ? value->texts.items[0] : NULL;
}

double pace_question_number(const pace_question *question, const char *field) {
    return value_of(question, field)->number;
}

bool pace_question_has(const pace_question *question, const char *field) { return value_of(question, field)->said; }

bool pace_question_flag(const pace_question *question, const char *field) { return value_of(question, field)->said; }

const char *pace_question_input(const pace_question *question, size_t index) {
    return index < question->inputs.count ? question->inputs.items[index] : NULL;
}

const char *pace_question_item(const pace_question *question, const char *field, size_t index) {
    pace_words words = pace_question_words(question, field);
    return index < words.count ? words.items[index] : NULL;
}

const char *const *pace_question_command(const pace_question *question, size_t *count) {
    *count = question->command.count;
    return (const char *const *)question->command.items;
}

void pace_question_progress(const pace_question *question, const char *what, uint64_t done, uint64_t total) {
    pace_progress_tell(question->progress, what, done, total);
}

bool pace_question_stopped(const pace_question *question) {
    return question->stop && question->stop(question->stop_context);
}

size_t pace_question_input_count(const pace_question *question) { return question->inputs.count; }

pace_words pace_question_words(const pace_question *question, const char *field) {
    const pace_field_value *value = value_of(question, field);
    return (pace_words){(const char *const *)value->texts.items, value->texts.count};
}

pace_status pace_question_check_single(const pace_question *question, const char *field) {
    size_t count = pace_question_words(question, field).count;
    return count < 2 ? PACE_OK : pace_fail(PACE_E_USAGE, "%s: expected one at most, found %zu", field, count);
}
