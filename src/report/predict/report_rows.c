/* `paceline predict --rows`: the rows of a table given back, each with its own cells and then those of the answer. A
 * column of the table that is named like one of the answer's is replaced. */
#include "base/print.h"
#include "ask/predict/predict_fits.h"
#include "report/engines.h"
#include "ask/rows/filled_table.h"
#include "ask/rows/row_kinds.h"
#include "report/predict/report_rows.h"
#include "report/show.h"
#include "report/show_findings.h"
#include "report/predict/unread_columns.h"
#include "base/text.h"

#include <string.h>

enum { TIME_COLUMNS = 5, MOST_COLUMNS = 1 + TIME_COLUMNS + 1 + PACE_ROW_CELLS };

/* How every answer begins; `question` only where a row may be several. */
static const pace_column question_column = {"question", "question", PACE_SHOW_TEXT};
static const pace_column time_columns[TIME_COLUMNS] = {{"predicted", "predicted", PACE_SHOW_REAL},
                                                       {"low", "low", PACE_SHOW_REAL},
                                                       {"high", "high", PACE_SHOW_REAL},
                                                       {"unit", "unit", PACE_SHOW_TEXT},
                                                       {"rung", "rung", PACE_SHOW_TEXT}};
static const pace_column status_column = {"status", "status", PACE_SHOW_TEXT};

typedef struct {
    const pace_row_kind *kind;
    void *state;
    pace_row_table from;
    bool *looked;                      /* at which columns, when it was read */
    pace_column columns[MOST_COLUMNS]; /* of the answer */
    size_t count;
    pace_node *table;
    size_t answered, batches_assumed;
    size_t too_large, ran; /* rows that do not fit: not measured, and measured, which ran whatever the formula says */
    size_t first;          /* of those not measured: the question */
    char which[64];        /* their rows */
    pace_step_room room;   /* of the first that does not fit */
    size_t beyond;         /* rows outside what their fit has seen */
    char beyond_which[64], beyond_what[64];
    size_t idle, unfitted; /* rows with cells that change nothing, and rows that the fit does not answer */
    char idle_which[64], unfitted_which[64];
} answers;

static void choose_columns(answers *a) {
    if (a->from.several) a->columns[a->count++] = question_column;
    for (int i = 0; i < TIME_COLUMNS; i++) a->columns[a->count++] = time_columns[i];
    for (size_t i = 0; i <= a->kind->column_count; i++) {
        if (i == a->kind->columns_before_status) a->columns[a->count++] = status_column;
        if (i < a->kind->column_count) a->columns[a->count++] = a->kind->columns[i];
    }
}

/* A column of the table that an answer replaces. */
static bool is_answer(const answers *a, size_t column) {
    for (size_t i = 0; i < a->count; i++)
        if (pace_strcasecmp(pace_csv_name(a->from.csv, column), a->columns[i].key) == 0) return true;
    return false;
}

static pace_status begin(answers *a, pace_report *report) {
    const pace_csv *csv = a->from.csv;
    size_t used = 0;
    pace_column *all = pace_alloc(csv->columns + MOST_COLUMNS, sizeof *all);
    if (!all) return PACE_E_MEMORY;
    for (size_t i = 0; i < csv->columns; i++)
        if (!is_answer(a, i)) all[used++] = (pace_column){pace_csv_name(csv, i), pace_csv_name(csv, i), PACE_SHOW_TEXT};
    for (size_t i = 0; i < a->count; i++) all[used++] = a->columns[i];
    a->table = pace_node_table(pace_report_root(report), "rows", "Rows", PACE_FOR_ALL, all, used, 0);
    pace_free(all);
    return PACE_OK;
}

static void put_answer(answers *a, const pace_row_answer *answer) {
    if (a->from.several) pace_table_text(a->table, answer->asked);
    for (int i = 0; i < 3; i++) {
        if (answer->known) pace_table_real(a->table, answer->values[i]);
        else pace_table_none(a->table);
    }
    pace_table_text(a->table, answer->unit);
    if (answer->known) pace_table_text(a->table, pace_rung_names[answer->time_s.rung]);
    else pace_table_none(a->table);
    for (size_t i = 0; i <= a->kind->column_count; i++) {
        if (i == a->kind->columns_before_status) pace_table_text(a->table, answer->status);
        if (i < a->kind->column_count) pace_put_found_cell(a->table, &a->kind->columns[i], &answer->cells[i]);
    }
    a->answered += answer->known;
    a->batches_assumed += answer->batch_assumed;
}

/* Adds a row to a list of them; rows are counted from 1, behind the line of names. */
static void name_row(char *out, size_t size, size_t number, const pace_row_question *question) {
    enum { NAMED = 5 };
    size_t used = strlen(out);
    if (number <= NAMED) pace_snprintf(out + used, size - used, "%s%zu", used ? ", " : "", (size_t)question->row + 1);
    else if (number == NAMED + 1) pace_snprintf(out + used, size - used, ", ...");
}

static void judge(answers *a, size_t at, const pace_row_question *question, const pace_row_answer *answer) {
    if (answer->known && *answer->beyond) {
        if (a->beyond++ == 0) pace_snprintf(a->beyond_what, sizeof a->beyond_what, "%s", answer->beyond);
        name_row(a->beyond_which, sizeof a->beyond_which, a->beyond, question);
    }
    if (pace_row_says_unused(answer)) name_row(a->idle_which, sizeof a->idle_which, ++a->idle, question);
    if (answer->unfitted) name_row(a->unfitted_which, sizeof a->unfitted_which, ++a->unfitted, question);
    if (!answer->known || answer->fitting != PACE_TOO_LARGE) return;
    if (question->measured_s > 0) {
        a->ran++;
        return;
    }
    if (a->too_large++ == 0) a->first = at, a->room = answer->room;
    name_row(a->which, sizeof a->which, a->too_large, question);
}

static void put_rows(answers *a) {
    for (size_t i = 0; i < a->from.questions; i++) {
        pace_row_question question;
        pace_row_answer answer = {0};
        a->kind->question(&question, a->state, 0, i);
        a->kind->answer(&answer, a->state, 0, i);
        pace_table_row(a->table);
        for (size_t c = 0; c < a->from.csv->columns; c++)
            if (!is_answer(a, c)) pace_table_text(a->table, pace_csv_cell(a->from.csv, question.row, c));
        put_answer(a, &answer);
        judge(a, i, &question, &answer);
    }
}

/* Which rows do not fit, by how much the first, and what would make it fit. */
static pace_status put_fit(pace_report *report, const answers *a) {
    char advice[320] = "";
    pace_row_question first;
    if (a->ran)
        pace_report_warn(report, PACE_WARN_MAY_NOT_FIT, NULL,
                         "%zu measured row%s not fit by the formula of memory: the formula is wrong there", a->ran,
                         a->ran == 1 ? " does" : "s do");
    if (a->too_large == 0) return PACE_OK;
    a->kind->question(&first, a->state, 0, a->first);
    if (a->kind->advise) PACE_TRY(a->kind->advise(advice, sizeof advice, a->state, 0, a->first));
    pace_report_deny(report);
    pace_report_lead(report, PACE_WARN_DOES_NOT_FIT,
                     "Does not fit: %zu of %zu rows (%s). Row %zu needs %s for %s has %s (%.1f times as much).%s%s",
                     a->too_large, a->from.questions, a->which, (size_t)first.row + 1,
                     pace_show_bytes(a->room.need_bytes).text,
                     a->room.of_host ? "the ranks of a node, their host" : "each rank, its device",
                     pace_show_bytes(a->room.has_bytes).text, a->room.need_bytes / a->room.has_bytes,
                     *advice ? " " : "", advice);
    return PACE_OK;
}

static pace_status put_remarks(pace_report *report, const answers *a) {
    pace_findings findings = {0};
    if (!a->kind->remark) return PACE_OK;
    pace_status status = a->kind->remark(&findings, a->state);
    if (status == PACE_OK) status = pace_put_findings(report, &findings);
    pace_findings_free(&findings);
    return status;
}

/* Rows that were all refused were not read to their ends. */
static pace_status warn_of_unread(pace_report *report, const answers *a) {
    pace_unread_columns unread = {0};
    if (a->answered == 0) return PACE_OK;
    pace_status status = pace_unread_columns_add(&unread, a->from.csv, a->looked);
    if (status == PACE_OK) pace_warn_of_unread_columns(report, &unread);
    pace_unread_columns_free(&unread);
    return status;
}

static void warn_of_rows(pace_report *report, const answers *a) {
    if (a->batches_assumed)
        pace_report_warn(report, PACE_WARN_BATCH_ASSUMED, NULL,
                         "%zu of %zu rows do not say their micro-batch: see the column status", a->batches_assumed,
                         a->from.questions);
    if (a->beyond)
        pace_report_warn(report, PACE_WARN_EXTRAPOLATED, NULL,
                         "%zu of %zu rows (%s) ask for what the fit has no rows of (%s): the answers are carried over "
                         "from the nearest rows",
                         a->beyond, a->from.questions, a->beyond_which, a->beyond_what);
    if (a->unfitted)
        pace_report_warn(report, PACE_WARN_EXTRAPOLATED, "fit",
                         "The fit is not used for %zu of %zu rows (%s): see the column status", a->unfitted,
                         a->from.questions, a->unfitted_which);
    if (a->idle)
        pace_report_warn(report, PACE_WARN_CELL_IDLE, NULL,
                         "%zu of %zu rows (%s) have cells without effect: see the column status", a->idle,
                         a->from.questions, a->idle_which);
}

static pace_status build(pace_report *report, void *context) {
    answers *a = context;
    pace_node *root = pace_report_root(report);
    pace_report_add_input(report, a->from.name, a->from.bytes);
    choose_columns(a);
    PACE_TRY(begin(a, report));
    put_rows(a);
    PACE_TRY(put_fit(report, a));
    warn_of_rows(report, a);
    PACE_TRY(put_remarks(report, a));
    PACE_TRY(warn_of_unread(report, a));
    pace_node_int(root, "answered", (int64_t)a->answered);
    pace_node_int(root, "asked", (int64_t)a->from.questions);
    if (a->answered < a->from.questions)
        pace_report_warn(report, PACE_WARN_ROWS_UNANSWERED, NULL,
                         "%zu of %zu rows cannot be answered: see the column status", a->from.questions - a->answered,
                         a->from.questions);
    if (a->answered == 0) pace_report_deny(report);
    return PACE_OK;
}

static pace_status read_table(answers *a, const char *path, const pace_rows_options *options) {
    if (options->set.count == 0) return pace_row_kind_read_file(a->kind, a->state, path);
    return pace_filled_table_read(path, options->context->catalog, a->kind->name, &options->set, a->kind->read,
                                  a->state);
}

static pace_status open_rows(answers *a, const char *path, const pace_rows_options *options) {
    PACE_TRY(pace_row_kind_open(&a->state, a->kind, options));
    if (options->fit_path) {
        PACE_TRY(pace_predict_fit_of_kind(options->fit_path, a->kind->name));
        PACE_TRY(a->kind->load(a->state, options->fit_path));
    }
    PACE_TRY(read_table(a, path, options));
    a->from = a->kind->table(a->state, 0);
    if (!a->from.csv || a->from.csv->columns == 0)
        return pace_fail(PACE_E_INPUT, "%s: expected a table of questions; a log is for paceline fit", a->from.name);
    if (a->from.csv->rows == 0)
        return pace_fail(PACE_E_INPUT, "%s: expected a question in each row below the header, found no row",
                         a->from.name);
    if (!PACE_MAKE(a->looked, a->from.csv->columns)) return PACE_E_MEMORY;
    memcpy(a->looked, a->from.csv->looked, a->from.csv->columns * sizeof *a->looked);
    return pace_filled_table_check(a->from.csv, a->looked, &options->set);
}

pace_status pace_predict_rows_of_kind(pace_report **out, const pace_row_kind *kind, const char *path,
                                      const pace_rows_options *options) {
    answers a = {.kind = kind};
    pace_status status = open_rows(&a, path, options);
    if (status == PACE_OK) status = pace_report_build(out, "predict", "Rows predicted", build, &a);
    pace_row_kind_close(kind, a.state);
    pace_free(a.looked);
    return status;
}

void pace_say_kind_assumed(pace_report *report, pace_status status, const pace_row_kind *kind) {
    char said[64];
    if (kind == pace_all_row_kinds.items[0]) return;
    pace_snprintf(said, sizeof said, "read as --kind %s, from the table's columns", kind->name);
    if (status == PACE_OK) pace_report_warn(report, PACE_WARN_KIND_ASSUMED, NULL, "%s", said);
    else if (status == PACE_E_INPUT) pace_fail_in(status, said);
}

pace_status pace_predict_rows(pace_report **out, const char *path, const pace_rows_options *options) {
    uint64_t failures = pace_memory_failures();
    const pace_row_kind *kind;
    pace_report *report = NULL;
    if (options->kind) PACE_TRY(pace_row_kind_find(&kind, &pace_all_row_kinds, options->kind, true));
    else kind = pace_row_kind_of_file(&pace_all_row_kinds, options->context->catalog, path);
    pace_status status = pace_predict_rows_of_kind(&report, kind, path, options);
    if (!options->kind) pace_say_kind_assumed(report, status, kind);
    return pace_report_settle(out, report, status, failures);
}
