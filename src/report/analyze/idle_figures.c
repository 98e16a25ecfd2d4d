#include "report/analyze/analyze_parts.h"
#include "ask/options.h"
#include "base/print.h"
#include "forecast/what_ifs.h"
#include "report/report_node.h"

#include <string.h>
#include <sys/stat.h>

static const uint64_t most_read_bytes = 16 << 20;
static const int64_t most_tried = 100000;

static uint64_t add(uint64_t sum, double value) {
    uint64_t bits[2] = {sum, 0};
    memcpy(&bits[1], &value, sizeof value);
    return pace_hash(bits, sizeof bits);
}

static uint64_t add_cells(uint64_t sum, const pace_held_table *table) {
    PACE_ITEMS (const pace_cell, cell, &table->cells) {
        if (cell->kind == PACE_CELL_INT) sum = add(sum, (double)cell->integer);
        if (cell->kind == PACE_CELL_REAL) sum = add(sum, cell->real);
    }
    return sum;
}

static uint64_t numbers_of(const pace_report *report) {
    uint64_t sum = 0;
    for (const pace_node *node = report->root; node; node = pace_node_after(report->root, node)) {
        if (node->kind == PACE_NODE_INT) sum = add(sum, (double)node->integer);
        if (node->kind == PACE_NODE_REAL) sum = add(sum, node->real);
        if (node->kind == PACE_NODE_TABLE) sum = add_cells(sum, node->table);
    }
    return sum;
}

/* One KEY=VALUE of one text of `on`: items[text][from .. to). */
typedef struct {
    size_t text, from, to;
} figure;

static bool next_figure(figure *f, const pace_texts *on) {
    for (; f->text < on->count; f->text++, f->to = 0) {
        const char *text = on->items[f->text];
        for (;;) {
            f->from = f->to + strspn(text + f->to, " \t");
            f->to = f->from + strcspn(text + f->from, " \t");
            if (f->from == f->to) break;
            const char *equals = memchr(text + f->from, '=', f->to - f->from);
            if (f->from > 0 && equals && strchr("0123456789.", equals[1])) return true; /* no word: net-kind=tcp */
        }
    }
    return false;
}

static pace_status texts_without(pace_texts *out, const pace_texts *on, const figure *left_out) {
    for (size_t i = 0; i < on->count; i++) {
        PACE_TRY(pace_texts_add(out, on->items[i]));
        char *text = out->items[i];
        if (i == left_out->text) memset(text + left_out->from, ' ', left_out->to - left_out->from);
    }
    return PACE_OK;
}

/* What cannot be answered without the figure shows that it matters. */
static bool moves(uint64_t numbers, const pace_question *asked, pace_idle_ask ask) {
    pace_report *again = NULL;
    size_t missed = 0;
    bool same = ask(&again, &missed, asked) == PACE_OK && again && numbers_of(again) == numbers;
    pace_report_free(again);
    return !same;
}

/* The same question without one field, and without the files that it writes: they are written already. */
static pace_status ask_without(pace_question *out, const pace_question *question, size_t field) {
    pace_question asked = *question;
    asked.progress = (pace_progress){0};
    if (!PACE_MAKE(asked.values, question->count)) return PACE_E_MEMORY;
    for (size_t i = 0; i < question->count; i++)
        if (i != field && pace_option_at(question->verb->name, i)->role != PACE_OPTION_WRITES)
            asked.values[i] = question->values[i];
    *out = asked;
    return PACE_OK;
}

static pace_status try_without_figure(pace_report *report, const pace_question *question, size_t field, const figure *f,
                                      pace_idle_ask ask) {
    const pace_texts *on = &question->values[field].texts;
    pace_question asked;
    PACE_TRY(ask_without(&asked, question, field));
    asked.values[field].said = question->values[field].said;
    pace_status status = texts_without(&asked.values[field].texts, on, f);
    if (status == PACE_OK && !moves(numbers_of(report), &asked, ask))
        pace_report_warn(report, PACE_WARN_FIGURE_IDLE, NULL,
                         "%.*s changes no number of this answer: nothing in it hangs on that figure",
                         (int)(f->to - f->from), on->items[f->text] + f->from);
    pace_texts_free(&asked.values[field].texts);
    pace_free(asked.values);
    return status;
}

static pace_status try_without_option(pace_report *report, const pace_question *question, size_t field,
                                      pace_idle_ask ask) {
    const pace_field_value *value = &question->values[field];
    char name[32], values[120] = "";
    pace_question asked;
    pace_snprintf(name, sizeof name, "%s", pace_option_at(question->verb->name, field)->name);
    for (char *at = name; (at = strchr(at, '_')) != NULL;) *at = '-';
    PACE_TRY(ask_without(&asked, question, field));
    for (size_t i = 0; i < value->texts.count; i++) pace_list(values, sizeof values, ",", "%s", value->texts.items[i]);
    if (!moves(numbers_of(report), &asked, ask))
        pace_report_warn(report, PACE_WARN_FIGURE_IDLE, NULL, "--%s%s%s changes no number of this answer", name,
                         *values ? " " : "", values);
    pace_free(asked.values);
    return PACE_OK;
}

/* The configurations that a plan tried. */
static int64_t tried_by(const pace_report *report) {
    int64_t tried = 0;
    for (const pace_node *node = report->root; node; node = pace_node_after(report->root, node)) {
        if (node->kind != PACE_NODE_TABLE || !node->key || strcmp(node->key, "machines") != 0) continue;
        const pace_held_table *table = node->table;
        for (size_t i = 0; i < table->cells.count; i++)
            if (strcmp(table->columns.items[i % table->columns.count].key, "tried") == 0 &&
                table->cells.items[i].kind == PACE_CELL_INT)
                tried += table->cells.items[i].integer;
    }
    return tried;
}

/* Pipes come once; reading much again, or searching a large plan again, would take long. */
static bool can_ask_again(const pace_report *report, const pace_question *question) {
    uint64_t read_bytes = 0;
    struct stat about;
    if (strcmp(question->verb->name, "plan") == 0 && tried_by(report) > most_tried) return false;
    for (size_t i = 0; i < report->inputs.count; i++) {
        const char *path = report->inputs.items[i].path;
        read_bytes += report->inputs.items[i].bytes;
        bool piped = strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode));
        if (piped) return false;
    }
    return read_bytes <= most_read_bytes && !question->processes;
}

static bool answers_jointly(const pace_report *report) {
    for (size_t i = 0; i < report->warnings.count; i++)
        if (report->warnings.items[i].code == PACE_WARN_WHAT_IF_JOINED) return true;
    return false;
}

/* What is assumed, not asked, other than by default; of what-ifs that have no row of their own, each. */
static bool may_be_idle(const char *option, const pace_field_value *value, bool jointly) {
    static const struct {
        const char *option, *by_default;
    } assumed[] = {{"contention", "projected"}, {"nvlink", "link"}, {"unfolded", ""}};
    if (!value->said) return false;
    for (size_t i = 0; i < PACE_COUNT(assumed); i++)
        if (strcmp(assumed[i].option, option) == 0)
            return value->texts.count == 0 || strcmp(value->texts.items[0], assumed[i].by_default) != 0;
    for (size_t i = 0; jointly && i < pace_what_if_count; i++)
        if (strcmp(pace_what_ifs[i]->option.name, option) == 0) return true;
    return false;
}

pace_status pace_report_idle_figures(pace_report *report, const pace_question *question, pace_idle_ask ask) {
    const char *verb = question->verb->name;
    bool jointly = answers_jointly(report);
    size_t on;
    if (!can_ask_again(report, question)) return PACE_OK;
    if (pace_option_find(&on, verb, "on"))
        for (figure f = {0}; next_figure(&f, &question->values[on].texts);)
            PACE_TRY(try_without_figure(report, question, on, &f, ask));
    for (size_t field = 0; field < question->count; field++)
        if (may_be_idle(pace_option_at(verb, field)->name, &question->values[field], jointly))
            PACE_TRY(try_without_option(report, question, field, ask));
    return PACE_OK;
}
