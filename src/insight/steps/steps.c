#include "insight/steps/steps.h"

#include "base/order.h"
#include "base/pattern.h"
#include "base/sort.h"
#include "base/text.h"
#include "insight/steps/recurring_steps.h"
#include "base/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pace_marks_free(pace_marks *marks) {
    PACE_VEC_FREE(&marks->items);
    PACE_VEC_FREE(&marks->lanes);
}

ptrdiff_t pace_marks_at(const pace_marks *marks, int64_t host_ns) {
    size_t low = 0;
    PACE_SEARCH(low, marks->items.count, middle, marks->items.items[middle].start_ns <= host_ns);
    return (ptrdiff_t)low - 1;
}

PACE_ORDER(by_start, pace_mark, PACE_UP(start_ns))

/* What a name is to the steps that are looked for. */
enum { NOT_SEEN, NO_MATCH, RELATED, MATCHES };

static bool inside_a_match(const pace_step *step, const char *known, uint32_t task) {
    for (uint32_t at = pace_task_parent(step, task); at != PACE_NO_TASK; at = pace_task_parent(step, at))
        if (known[step->name[at]] >= RELATED && step->kind[at] <= PACE_TASK_ANNOTATION) return true;
    return false;
}

/* An annotation, or an operator: 2021 traces record annotations as such. */
static bool may_mark(const pace_step *step, uint32_t task) {
    return step->kind[task] == PACE_TASK_ANNOTATION || step->kind[task] == PACE_TASK_OP;
}

static void match_names(char *known, const pace_step *step, const regex_t *regex) {
    for (uint32_t task = 0; task < step->count; task++) {
        char *seen = &known[step->name[task]];
        if (!may_mark(step, task) || *seen != NOT_SEEN) continue;
        const char *name = pace_step_name(step, task);
        *seen = (regex ? pace_pattern_fits(regex, name) : pace_name_marks_step(name)) ? MATCHES : NO_MATCH;
    }
}

static int by_family(const void *left, const void *right) {
    return pace_name_family_order(*(const char *const *)left, *(const char *const *)right);
}

/* Names of the families that match, but do not match themselves. */
static pace_status find_related(char *known, const pace_step *step) {
    size_t names = pace_names_count(&step->names), count = 0;
    const char **families = pace_alloc(names, sizeof *families);
    if (!families) return PACE_E_MEMORY;
    for (pace_name name = 0; name < names; name++)
        if (known[name] == MATCHES) families[count++] = pace_names_text(&step->names, name);
    if (count) qsort(families, count, sizeof *families, by_family);
    for (pace_name name = 0; count && name < names; name++) {
        const char *text = pace_names_text(&step->names, name);
        if (known[name] == NO_MATCH && bsearch(&text, families, count, sizeof *families, by_family))
            known[name] = RELATED;
    }
    pace_free(families);
    return PACE_OK;
}

/* What matches inside a match is part of that step, not one of its own: an expression that fits everything gives the
 * outermost ranges. */
static pace_status add_marks(pace_marks *marks, pace_step *step, const char *known) {
    for (uint32_t task = 0; task < step->count; task++) {
        char seen = known[step->name[task]];
        if (!may_mark(step, task) || seen < RELATED || inside_a_match(step, known, task)) continue;
        PACE_TRY(PACE_PUSH(&marks->items, ((pace_mark){.label = step->name[task],
                                                       .start_ns = step->start_ns[task],
                                                       .end_ns = pace_step_end_ns(step, task),
                                                       .left_out = seen == RELATED})));
        if (step->kind[task] == PACE_TASK_ANNOTATION) PACE_TRY(pace_step_note_mark(step, step->name[task]));
    }
    return PACE_OK;
}

static pace_status add_annotated(pace_marks *marks, pace_step *step, const pace_stage_words *words,
                                 const regex_t *regex) {
    char *known = pace_alloc(pace_names_count(&step->names), 1);
    if (!known) return PACE_E_MEMORY;
    match_names(known, step, regex);
    pace_status status = regex ? find_related(known, step) : PACE_OK;
    if (status == PACE_OK) status = add_marks(marks, step, known);
    if (status == PACE_OK && !regex && marks->items.count == 0) {
        status = pace_recurring_steps_find(&marks->basis, known, MATCHES, step, words);
        if (status == PACE_OK && marks->basis) status = add_marks(marks, step, known);
    }
    pace_free(known);
    return status;
}

void pace_marks_choose(pace_marks *marks) {
    size_t kept = 0;
    for (size_t i = 0; i < marks->items.count; i++)
        if (!marks->items.items[i].left_out) marks->items.items[kept++] = marks->items.items[i];
    marks->items.count = kept;
}

/* --- steps from the periodic structure -------------------------------------------------------------------- */

/* How regular the gaps between occurrences of a name are: the share within 50 % of their median. */
static double regularity(const pace_step *step, pace_name name, int64_t *gaps, size_t capacity, size_t *count) {
    size_t starts = 0;
    for (uint32_t task = 0; task < step->count && starts < capacity; task++)
        if (step->name[task] == name && step->kind[task] <= PACE_TASK_ANNOTATION) gaps[starts++] = step->start_ns[task];
    *count = starts ? starts - 1 : 0;
    if (*count == 0) return 0;
    pace_order_ns(gaps, starts); /* threads may take turns */
    for (size_t i = 0; i < *count; i++) gaps[i] = gaps[i + 1] - gaps[i];
    pace_order_ns(gaps, *count);
    int64_t median = gaps[*count / 2];
    size_t fit = 0;
    for (size_t i = 0; i < *count; i++) fit += gaps[i] > median / 2 && gaps[i] < median + median / 2;
    return (double)fit / (double)*count;
}

bool pace_name_may_mark_step(const pace_stage_words *words, const char *name) {
    return pace_name_marks_step(name) || pace_word_once_a_step(words, name);
}

/* The candidate is a name that frameworks use once an iteration; each occurrence opens a step. */
static pace_status add_periodic(pace_marks *marks, pace_step *step, const pace_stage_words *words) {
    enum { MOST = 4096 };
    int64_t *gaps = pace_alloc(MOST, sizeof *gaps);
    uint8_t *tried = pace_alloc(pace_names_count(&step->names), 1);
    pace_status status = gaps && tried ? PACE_OK : PACE_E_MEMORY;
    double best = 0;
    pace_name chosen = 0;
    size_t fewest = SIZE_MAX;
    for (uint32_t task = 0; status == PACE_OK && task < step->count; task++) {
        pace_name name = step->name[task];
        if (step->kind[task] > PACE_TASK_ANNOTATION || tried[name]) continue;
        tried[name] = 1;
        if (!pace_word_once_a_step(words, pace_names_text(&step->names, name))) continue;
        size_t count;
        double score = regularity(step, name, gaps, MOST, &count);
        if (count >= 2 && (score > best || (score >= best && count < fewest))) {
            best = score;
            chosen = name;
            fewest = count;
        }
    }
    int64_t end_ns = INT64_MIN;
    for (uint32_t task = 0; chosen && status == PACE_OK && task < step->count; task++) {
        if (step->kind[task] <= PACE_TASK_CALL && pace_step_end_ns(step, task) > end_ns)
            end_ns = pace_step_end_ns(step, task);
        if (step->name[task] != chosen || step->kind[task] > PACE_TASK_ANNOTATION) continue;
        status = PACE_PUSH(&marks->items, ((pace_mark){.start_ns = step->start_ns[task]}));
    }
    PACE_SORT(&marks->items, by_start);
    for (size_t i = 0; status == PACE_OK && i < marks->items.count; i++) {
        char label[32];
        snprintf(label, sizeof label, "step %zu", i + 1);
        status = pace_names_add(&marks->items.items[i].label, &step->names, label, strlen(label));
        marks->items.items[i].end_ns = i + 1 < marks->items.count ? marks->items.items[i + 1].start_ns : end_ns;
    }
    if (chosen) {
        marks->origin = PACE_MARKS_PERIODIC;
        marks->certainty = best;
        marks->basis = chosen;
    }
    PACE_FREE(gaps, tried);
    return status;
}

/* The steps of a slice: the work of others that it holds is not whole. */
static pace_status add_kept(pace_marks *marks, const pace_step *step) {
    PACE_ITEMS (const pace_kept_step, kept, &step->kept_steps) {
        PACE_TRY(PACE_PUSH(&marks->items,
                           ((pace_mark){.label = kept->label, .start_ns = kept->start_ns, .end_ns = kept->end_ns})));
    }
    marks->origin = PACE_MARKS_ANNOTATED;
    marks->certainty = 1;
    return PACE_OK;
}

/* A step in which the file breaks off, and those behind it, lack work. */
static void leave_out_broken(pace_marks *marks, const pace_step *step) {
    PACE_ITEMS (pace_mark, mark, &marks->items) {
        mark->broken = mark->end_ns > step->cut_ns;
        mark->left_out |= mark->broken;
    }
}

static void set_bounds(pace_marks *marks, const pace_step *step) {
    if (marks->items.count == 0) return;
    marks->since_ns = marks->items.items[0].start_ns;
    if (step->kept_steps.count && step->kept_since_ns) marks->since_ns = step->kept_since_ns;
    marks->until_ns = marks->items.items[marks->items.count - 1].end_ns;
    if (step->kept_steps.count && step->kept_until_ns > marks->until_ns) marks->until_ns = step->kept_until_ns;
}

/* Names of annotations, each family of numbered ones once. */
static pace_status fail_unmatched(const pace_step *step, const char *regex) {
    char names[240] = "";
    const char *last = "";
    size_t count = 0;
    for (uint32_t task = 0; task < step->count && count < 5; task++) {
        const char *name = pace_step_name(step, task);
        if (step->kind[task] != PACE_TASK_ANNOTATION || pace_name_family_order(name, last) == 0 || strstr(names, name))
            continue;
        last = name;
        count++;
        pace_list(names, sizeof names, ", ", "%.60s", name);
    }
    if (count == 0) return pace_fail(PACE_E_INPUT, "step expression '%.80s': the trace has no annotations", regex);
    return pace_fail(PACE_E_INPUT, "step expression '%.80s' matches no annotation; there are: %s%s", regex, names,
                     count == 5 ? ", ..." : "");
}

/* Steps of one name get numbers, so that a report can say which it means. */
static pace_status number_labels(pace_marks *marks, pace_step *step) {
    size_t count = marks->items.count;
    for (size_t i = 1; i < count; i++)
        if (marks->items.items[i].label != marks->items.items[0].label) return PACE_OK;
    const pace_name same = count > 1 ? marks->items.items[0].label : 0;
    for (size_t i = 0; count > 1 && i < count; i++) {
        char label[128];
        snprintf(label, sizeof label, "%.100s #%zu", pace_names_text(&step->names, same), i + 1);
        PACE_TRY(pace_names_add(&marks->items.items[i].label, &step->names, label, strlen(label)));
    }
    return PACE_OK;
}

/* One thread, or a few take turns. Where thousands have marks, as no trainer's have, none is the step's. */
static pace_status find_lanes(pace_marks *marks, const pace_step *step) {
    enum { MOST_LANES = 64 };
    for (uint32_t i = 0; i < step->lanes.count && marks->lanes.count < MOST_LANES; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        uint32_t task = lane->first, end = lane->first + lane->count;
        while (task < end && !(may_mark(step, task) && pace_task_marks_step(step, task))) task++;
        if (task < end) PACE_TRY(PACE_PUSH(&marks->lanes, i));
    }
    return PACE_OK;
}

/* A step whose annotation lasts into the next ends where the next begins: what the host does from then on is the
 * next's (pace_marks_at()). */
static void end_before_next(pace_marks *marks) {
    for (size_t i = 0; i + 1 < marks->items.count; i++) {
        pace_mark *mark = &marks->items.items[i];
        if (mark->end_ns > mark[1].start_ns && mark[1].start_ns > mark->start_ns) mark->end_ns = mark[1].start_ns;
    }
}

static pace_status find(pace_marks *marks, pace_step *step, const pace_stage_words *words, const char *regex,
                        const regex_t *compiled) {
    if (!regex && step->kept_steps.count) return add_kept(marks, step);
    PACE_TRY(add_annotated(marks, step, words, compiled));
    if (marks->items.count == 0) return regex ? fail_unmatched(step, regex) : add_periodic(marks, step, words);
    marks->origin = PACE_MARKS_ANNOTATED;
    marks->certainty = 1;
    PACE_SORT(&marks->items, by_start);
    end_before_next(marks);
    return number_labels(marks, step);
}

pace_status pace_marks_find(pace_marks *out, pace_step *step, const pace_stage_words *words, const char *regex) {
    pace_marks marks = {0};
    regex_t compiled;
    if (regex) PACE_TRY(pace_pattern_compile(&compiled, "step expression", regex));
    pace_status status = find(&marks, step, words, regex, regex ? &compiled : NULL);
    if (regex) regfree(&compiled);
    if (status == PACE_OK) status = find_lanes(&marks, step);
    set_bounds(&marks, step);
    leave_out_broken(&marks, step);
    return PACE_GIVE(out, marks, status, pace_marks_free(&marks));
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* The digits that end a label ("step 3", "step_3", "[3]"); -1 without. */
static int64_t number_in(const char *label) {
    enum { MOST_DIGITS = 15 };
    const char *end = label + strlen(label), *at;
    int64_t number = 0;
    if (end > label && (end[-1] == ']' || end[-1] == ')')) end--;
    at = end;
    while (at > label && pace_is_digit(at[-1])) at--;
    if (at == end || at == label || end - at > MOST_DIGITS || !strchr("# _-=:[(", at[-1])) return -1;
    for (; at < end; at++) number = number * 10 + (*at - '0');
    return number;
}

static bool labels_ascend(const pace_marks *marks, const pace_names *names) {
    int64_t before = -1;
    for (size_t i = 0; i < marks->items.count; i++) {
        int64_t own = number_in(pace_names_text(names, marks->items.items[i].label));
        if (own <= before) return false;
        before = own;
    }
    return true;
}

void pace_mark_numbers(int64_t *out, const pace_marks *marks, const pace_names *names) {
    bool labels = labels_ascend(marks, names);
    for (size_t i = 0; i < marks->items.count; i++)
        out[i] = labels ? number_in(pace_names_text(names, marks->items.items[i].label)) : (int64_t)i + 1;
}

int64_t pace_mark_number(const pace_marks *marks, const pace_names *names, size_t mark) {
    return labels_ascend(marks, names) ? number_in(pace_names_text(names, marks->items.items[mark].label))
                                       : (int64_t)mark + 1;
}
