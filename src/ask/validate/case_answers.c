#include "ask/validate/case_answers.h"

#include "ask/validate/case_table.h"
#include "base/print.h"
#include "base/scratch.h"
#include "base/whole_file.h"
#include "ask/validate/case_value.h"
#include "ask/validate/cases.h"
#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- names in braces ---------------------------------------------------------------------------------------------- */

/* Words of a case with names in braces: "--set dp={dp}" becomes a question of each row. */

/* Where names are looked up. */
typedef struct {
    const pace_case *one;
    const char *folder;  /* {data} */
    const char *written; /* {before}: the file of the question asked before; NULL = none */
    const char *table;   /* {table}: a file that holds the rows of `before`; NULL = none */
    const pace_csv *csv; /* {COLUMN}; NULL = none */
    size_t row;
} case_place;

enum { CASE_WORDS = 4096 };

static const char *of_column(const case_place *at, const char *name) {
    int column = at->csv ? pace_csv_find(at->csv, name) : -1;
    return column < 0 ? NULL : pace_csv_cell(at->csv, at->row, (size_t)column);
}

static const char *look_up(const case_place *at, const char *name) {
    if (strcmp(name, "data") == 0) return at->folder;
    if (strcmp(name, "cases") == 0) return at->one->beside;
    if (strcmp(name, "before") == 0) return at->written;
    if (strcmp(name, "table") == 0) return at->table;
    return of_column(at, name);
}

/* Of the name that `text` begins with, up to its brace. */
static pace_status word_of(const char **out, const case_place *at, const char *text) {
    char name[64];
    size_t length = strcspn(text, "}");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    *out = text[length] ? look_up(at, name) : NULL;
    if (*out) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "case %s: nothing is named \"{%.40s}\"", at->one->name, name);
}

/* Writes `text` with what its names stand for: {COLUMN} the row's cell, {data} the folder of data, {cases} that of the
 * file of cases. *whole: none of them is an empty cell. PACE_E_INPUT for a name that is not there. */
static pace_status case_fill(char out[CASE_WORDS], bool *whole, const case_place *at, const char *text) {
    size_t used = 0;
    *whole = true;
    while (*text) {
        size_t plain = strcspn(text, "{");
        const char *value = "";
        int length = snprintf(out + used, CASE_WORDS - used, "%.*s", (int)plain, text);
        used += (size_t)length;
        text += plain;
        if (*text == '{') {
            PACE_TRY(word_of(&value, at, text + 1));
            text += strcspn(text, "}") + 1;
            *whole &= *value != '\0';
        }
        if (used < CASE_WORDS) used += (size_t)snprintf(out + used, CASE_WORDS - used, "%s", value);
        if (used >= CASE_WORDS) return pace_fail(PACE_E_LIMIT, "case %s: words are too long", at->one->name);
    }
    out[used] = '\0';
    return PACE_OK;
}

/* --- questions of a case ------------------------------------------------------------------------------------------ */

/* The last answer to one of a case's questions, and the words that it was asked with. */
typedef struct {
    pace_text words;
    pace_answer *answer;
} asked;

typedef struct {
    pace_case_score *score;
    pace_context *context;
    pace_ask_fn ask;
    case_place at;
    asked first, second; /* to `ask` and `against` */
    pace_scratch scratch;
    char written[PACE_SCRATCH_PATH + 16], table[PACE_SCRATCH_PATH + 16]; /* files in it */
} asker;

/* --- questions ---------------------------------------------------------------------------------------------------- */

static pace_status note_words(pace_text *words, const char *field, const char *text) {
    size_t length = strlen(field) + strlen(text) + 2;
    PACE_TRY(pace_grow(&words->items, &words->capacity, words->count + length + 1, 1));
    snprintf(words->items + words->count, length + 1, "%s=%s\n", field, text);
    words->count += length;
    return PACE_OK;
}

/* A text with an empty cell in it is not said. */
static pace_status say(pace_question *question, pace_text *words, const asker *a, const char *field, const char *text) {
    char filled[CASE_WORDS];
    bool whole;
    PACE_TRY(case_fill(filled, &whole, &a->at, text ? text : ""));
    if (!whole) return PACE_OK;
    PACE_TRY(note_words(words, field, filled));
    return strcmp(field, "inputs") == 0 ? pace_question_add_input(question, filled)
                                        : pace_question_set(question, field, filled);
}

static pace_status say_all(pace_question *question, pace_text *words, const asker *a, const pace_yaml_node *node) {
    PACE_YAML_EACH (texts, node) {
        const char *field = pace_yaml_key_of(texts);
        if (strcmp(field, "verb") == 0 || strcmp(field, "rows") == 0 || strcmp(field, "columns") == 0) continue;
        if (pace_yaml_text(texts)) PACE_TRY(say(question, words, a, field, pace_yaml_text(texts)));
        for (size_t k = 0; !pace_yaml_text(texts) && k < pace_yaml_count(texts); k++)
            PACE_TRY(say(question, words, a, field, pace_yaml_text(pace_yaml_item(texts, k))));
    }
    return PACE_OK;
}

static pace_status word_question(pace_question **out, pace_text *words, const asker *a, const pace_yaml_node *node) {
    const char *verb = pace_yaml_text_of(node, "verb");
    pace_question *question;
    PACE_TRY(pace_question_new(&question, a->context, verb ? verb : ""));
    pace_status status = say_all(question, words, a, node);
    return PACE_GIVE(out, question, status, pace_question_free(question));
}

static bool same_words(const pace_text *a, const pace_text *b) {
    return a->count == b->count && (a->count == 0 || memcmp(a->items, b->items, a->count) == 0);
}

/* Says which question failed. */
static pace_status ask_it(pace_answer **out, const asker *a, const pace_question *question, const pace_text *words) {
    pace_status status = a->ask(out, a->context, question);
    if (status == PACE_OK || status == PACE_E_MEMORY) return status;
    char message[400];
    snprintf(message, sizeof message, "%s", pace_message());
    return pace_fail(status, "case %s: %s\n%.*s", a->at.one->name, message, (int)words->count, words->items);
}

static pace_status ask_anew(asked *last, const asker *a, const pace_question *question, pace_text *words) {
    pace_text old = last->words;
    last->words = *words;
    *words = old;
    pace_answer_free(last->answer);
    last->answer = NULL;
    return ask_it(&last->answer, a, question, &last->words);
}

/* The answer to the question of this row; the last one where it is asked in the same words. */
static pace_status answer_row(asked *last, const asker *a, const pace_yaml_node *node) {
    pace_text words = {0};
    pace_question *question = NULL;
    pace_status status = word_question(&question, &words, a, node);
    if (status == PACE_OK && !(last->answer && same_words(&words, &last->words)))
        status = ask_anew(last, a, question, &words);
    pace_question_free(question);
    PACE_VEC_FREE(&words);
    return status;
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static pace_status value_of(double *out, const asker *a, const pace_answer *answer, const char *text) {
    char filled[CASE_WORDS];
    bool whole;
    PACE_TRY(case_fill(filled, &whole, &a->at, text));
    if (!whole) return pace_fail(PACE_E_MISSING, "case %s: \"%.200s\" names an empty cell", a->at.one->name, text);
    return pace_case_value(out, answer, filled);
}

static pace_status is_within(bool *out, const asker *a, const pace_case_row *row) {
    const pace_case *one = a->at.one;
    double low = 0, high = 0, apart = 0;
    if (one->within) PACE_TRY(value_of(&apart, a, a->first.answer, one->within));
    *out = fabs(row->predicted - row->measured) <= apart;
    if (!one->low || !one->high) return PACE_OK;
    PACE_TRY(value_of(&low, a, a->first.answer, one->low));
    PACE_TRY(value_of(&high, a, a->first.answer, one->high));
    *out = low <= row->measured && row->measured <= high;
    return PACE_OK;
}

static pace_status read_figure(pace_case_row *out, const asker *a, size_t i) {
    const pace_case *one = a->at.one;
    const char *expected = pace_yaml_text(pace_yaml_item(one->values, i));
    const pace_answer *other = one->against ? a->second.answer : a->first.answer;
    *out = (pace_case_row){0};
    PACE_TRY(value_of(&out->predicted, a, a->first.answer, pace_yaml_key(one->values, i)));
    PACE_TRY(value_of(&out->measured, a, other, expected ? expected : ""));
    if (one->orders && a->at.csv) PACE_TRY(pace_row_group(&out->group, a->at.csv, a->at.row, one->orders));
    return is_within(&out->within, a, out);
}

static pace_status score_row(asker *a) {
    const pace_case *one = a->at.one;
    PACE_TRY(answer_row(&a->first, a, one->ask));
    if (one->against) PACE_TRY(answer_row(&a->second, a, one->against));
    for (size_t i = 0; i < pace_yaml_count(one->values); i++) {
        pace_case_row row;
        pace_status status = read_figure(&row, a, i);
        if (status == PACE_E_MISSING && one->optional) continue;
        PACE_TRY(status);
        PACE_TRY(pace_case_score_add(a->score, row));
    }
    return PACE_OK;
}

static pace_status score_table(asker *a, const char *path) {
    pace_csv csv;
    PACE_TRY(pace_case_table_make(&csv, a->at.one, path));
    pace_status status = PACE_OK;
    a->at.csv = &csv;
    for (size_t row = 0; status == PACE_OK && row < csv.rows; row++) {
        bool counts;
        a->at.row = row;
        status = pace_case_matches(&counts, &csv, row, a->at.one->where);
        if (status == PACE_OK && counts) status = score_row(a);
    }
    a->at.csv = NULL;
    pace_csv_free(&csv);
    return status;
}

/* --- the question before ------------------------------------------------------------------------------------------ */

static pace_status name_file(char *path, size_t size, asker *a, const char *name) {
    if (!*a->scratch.path) PACE_TRY(pace_scratch_open(&a->scratch));
    pace_snprintf(path, size, "%s/%s", a->scratch.path, name);
    return PACE_OK;
}

static pace_status put_input(pace_sink *sink, void *context) {
    char bytes[4096];
    size_t got = 1;
    while (got > 0) {
        PACE_TRY(pace_input_read(context, bytes, sizeof bytes, &got));
        pace_sink_bytes(sink, bytes, got);
    }
    return PACE_OK;
}

static pace_status write_input(void *path, pace_input *input) { return pace_whole_file_write(path, put_input, input); }

/* The rows that the question before reads, as a file. */
static pace_status write_table(asker *a, const pace_yaml_node *before) {
    char path[4096];
    pace_case one = *a->at.one;
    one.rows = pace_yaml_get(before, "rows");
    one.columns = pace_yaml_get(before, "columns");
    if (one.file_count == 0 || (!one.rows && !one.columns)) return PACE_OK;
    PACE_TRY(pace_case_path(path, sizeof path, &one, a->at.folder, 0));
    PACE_TRY(name_file(a->table, sizeof a->table, a, "table"));
    a->at.table = a->table;
    return pace_case_table_read(&one, path, write_input, a->table);
}

static int put_bytes(void *file, const void *bytes, size_t length) {
    return fwrite(bytes, 1, length, file) == length ? 0 : EIO;
}

static pace_status write_answer(const pace_answer *answer, const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file) return pace_fail(PACE_E_IO, "%s: cannot be written", path);
    pace_status status = pace_answer_write(answer, PACE_FORMAT_CSV, NULL, put_bytes, file);
    if (fclose(file) != 0 && status == PACE_OK) status = pace_fail(PACE_E_IO, "%s: cannot be written", path);
    return status;
}

/* A question that writes no file has its answer written as CSV. */
static pace_status ask_before(asker *a) {
    const pace_yaml_node *before = a->at.one->before;
    if (!before) return PACE_OK;
    PACE_TRY(write_table(a, before));
    PACE_TRY(name_file(a->written, sizeof a->written, a, "answer"));
    a->at.written = a->written;
    PACE_TRY(answer_row(&a->first, a, before));
    return pace_yaml_get(before, "output") ? PACE_OK : write_answer(a->first.answer, a->written);
}

static pace_status score_tables(asker *a) {
    const pace_case *one = a->at.one;
    if (one->over) return score_table(a, one->name);
    if (one->file_count == 0) return score_row(a);
    for (unsigned i = 0; i < one->file_count; i++) {
        char path[4096];
        PACE_TRY(pace_case_path(path, sizeof path, one, a->at.folder, i));
        PACE_TRY(score_table(a, path));
    }
    return PACE_OK;
}

static void close_asker(asker *a) {
    pace_answer_free(a->first.answer);
    pace_answer_free(a->second.answer);
    PACE_VEC_FREE(&a->first.words, &a->second.words);
    pace_scratch_close(&a->scratch);
}

pace_status pace_case_answers(pace_case_score *out, pace_context *context, const pace_case *one, const char *folder,
                              pace_ask_fn ask) {
    pace_case_score score = {0};
    asker a = {.score = &score, .context = context, .ask = ask, .at = {.one = one, .folder = folder}};
    pace_status status = ask_before(&a);
    if (status == PACE_OK) status = score_tables(&a);
    if (status == PACE_OK && score.rows.count == 0)
        status = pace_fail(PACE_E_INPUT, "case %s: no row counts", one->name);
    close_asker(&a);
    return PACE_GIVE(out, score, status, pace_case_score_free(&score));
}
