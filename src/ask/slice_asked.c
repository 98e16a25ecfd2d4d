#include "ask/slice_asked.h"
#include "base/json_walk.h"
#include "base/pattern.h"
#include "base/print.h"
#include "base/text.h"
#include "source/inputs.h"
#include "source/slice/slice_member.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- what a trace says of its rank and its steps ------------------------------------------------------------------ */

/* A trace as far as steps are concerned: the tasks that may mark them. Which of the user's annotations recur as steps
 * do is seen beside all operators. */
typedef struct {
    pace_step step;
    bool all; /* annotations and operators are kept */
    const pace_stage_words *words;
    bool has_regex;
    regex_t regex;
    PACE_VEC(uint8_t) marks;      /* name -> 0 not looked up, 1 no, 2 may mark a step */
    int64_t last_ns;              /* the last end of the host's work */
    int64_t read_ns;              /* when the event that was read last began */
    int64_t latest_ns, issued_ns; /* when the device's latest work began, and its call; INT64_MIN = there is none */
    uint64_t latest;              /* its correlation */
    uint64_t events;
    pace_json *json;
} look;

static pace_json_token read_rank(void *context, const char *key) {
    look *l = context;
    pace_json_token token = pace_json_next(l->json);
    int64_t rank;
    if (strcmp(key, "rank") == 0 && token == PACE_JSON_NUMBER && pace_json_int(l->json, &rank) && rank >= 0 &&
        rank < INT32_MAX)
        l->step.rank = rank;
    return pace_json_pass(l->json, token);
}

static pace_status look_at_member(void *context, const char *key, const char *bytes, size_t length) {
    look *l = context;
    pace_input *input;
    if (strcmp(key, "distributedInfo") != 0 && strcmp(key, PACE_SLICE_MEMBER) != 0) return PACE_OK;
    PACE_TRY(pace_input_open_memory(&input, key, bytes, length));
    pace_status status = pace_json_open(&l->json, input);
    bool object = status == PACE_OK && pace_json_next(l->json) == PACE_JSON_OBJECT;
    if (object && strcmp(key, PACE_SLICE_MEMBER) == 0) (void)pace_slice_member_read(&l->step, l->json, &status);
    else if (object) (void)pace_json_each_member(l->json, read_rank, l);
    if (status == PACE_OK) pace_json_free(l->json);
    pace_input_free(input);
    return status;
}

static pace_status may_mark(bool *out, look *l, pace_name name) {
    while (l->marks.count <= name) PACE_TRY(PACE_PUSH(&l->marks, 0));
    uint8_t *known = &l->marks.items[name];
    const char *text = pace_names_text(&l->step.names, name);
    if (*known == 0) {
        bool may =
            l->has_regex ? pace_pattern_fits(&l->regex, text) : l->all || pace_name_may_mark_step(l->words, text);
        *known = may ? 2 : 1;
    }
    *out = *known == 2;
    return PACE_OK;
}

static pace_status look_at_event(void *context, const pace_kineto_event *event, const char *bytes, size_t length) {
    look *l = context;
    bool marks;
    (void)bytes, (void)length;
    l->events++;
    if (event->phase != 'X' || !event->has_start || !event->known_category) return PACE_OK;
    l->read_ns = event->start_ns;
    if (pace_task_on_device(event->kind) && event->start_ns > l->latest_ns)
        l->latest_ns = event->start_ns, l->latest = event->correlation;
    if (event->kind > PACE_TASK_CALL) return PACE_OK;
    int64_t duration_ns = event->duration_ns > 0 ? event->duration_ns : 0;
    if (event->start_ns + duration_ns > l->last_ns) l->last_ns = event->start_ns + duration_ns;
    if (event->kind > PACE_TASK_ANNOTATION) return PACE_OK;
    PACE_TRY(may_mark(&marks, l, event->name));
    if (!marks) return PACE_OK;
    char key[2 * PACE_ID_TEXT + 8];
    uint32_t lane;
    snprintf(key, sizeof key, "host %s/%s", event->pid, event->tid);
    PACE_TRY(pace_step_lane(&lane, &l->step, key, strlen(key), false, 0));
    return pace_step_add_task(&l->step, lane, event->kind, event->name, event->start_ns, duration_ns);
}

static pace_status look_at_call(void *context, const pace_kineto_event *event, const char *bytes, size_t length) {
    look *l = context;
    (void)bytes, (void)length;
    if (event->phase == 'X' && event->kind == PACE_TASK_CALL && event->correlation == l->latest)
        l->issued_ns = event->start_ns;
    return PACE_OK;
}

/* As the reader of traces finds it: a step that lasts longer lacks work. */
static pace_status find_cut(look *l, const char *path) {
    pace_event_visitor visitor = {.event = look_at_call, .context = l, .names = &l->step.names};
    pace_read_notes notes;
    l->step.cut_ns = l->read_ns;
    if (l->latest_ns == INT64_MIN) return PACE_OK;
    l->issued_ns = l->latest_ns;
    if (l->latest) PACE_TRY(pace_trace_events_read(&notes, path, &visitor));
    if (l->issued_ns < l->step.cut_ns) l->step.cut_ns = l->issued_ns;
    return PACE_OK;
}

static void look_free(look *l) {
    if (l->has_regex) regfree(&l->regex);
    PACE_VEC_FREE(&l->marks);
    pace_step_free(&l->step);
}

static pace_status look_at(look *l, const char *path, const pace_slice_options *options) {
    pace_event_visitor visitor = {.event = look_at_event,
                                  .member = look_at_member,
                                  .context = l,
                                  .names = &l->step.names,
                                  .progress = options->progress};
    pace_read_notes notes;
    l->last_ns = l->latest_ns = INT64_MIN;
    PACE_TRY(pace_trace_events_read(&notes, path, &visitor));
    if (l->events == 0) return pace_fail(PACE_E_INPUT, "%s: expected trace events, found an empty list", path);
    if (notes.warning[0] && !notes.events_whole) PACE_TRY(find_cut(l, path)); /* it breaks off */
    if (l->step.count) { /* steps that are found by their period end with the host's work */
        uint32_t lane;
        PACE_TRY(pace_step_lane(&lane, &l->step, "end", 3, false, 0));
        PACE_TRY(pace_step_add_task(&l->step, lane, PACE_TASK_CALL, 0, l->last_ns, 0));
    }
    return pace_step_finish(&l->step);
}

/* --- one file ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_slice_options *options;
    const pace_kernel_classes *classes;
    const pace_stage_words *words;
    const pace_anonymizer *anonymizer;
    look look;
    pace_marks marks;
    int64_t from_ns, until_ns; /* the host window of the chosen steps */
} cutter;

static void copy_label(char out[64], const pace_step *step, const pace_mark *mark) {
    snprintf(out, 64, "%s", pace_names_text(&step->names, mark->label));
}

/* Steps behind the first that is broken lack as much. */
static pace_status leave_out_broken(const cutter *c, pace_slice_done *done, size_t first, size_t *count) {
    for (size_t i = 0; i < *count; i++) {
        const pace_mark *mark = &c->marks.items.items[first + i];
        if (!mark->broken) continue;
        copy_label(done->broken_step, &c->look.step, mark);
        *count = i;
    }
    if (*count) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: %s: the file breaks off in it", done->path, done->broken_step);
}

static pace_status keep_steps(cutter *c, pace_slice_done *done, size_t first, size_t count) {
    pace_step *step = &c->look.step;
    const pace_mark *marks = c->marks.items.items;
    PACE_TRY(leave_out_broken(c, done, first, &count));
    if (step->cut_ns != INT64_MAX) step->cut_ns = PACE_SLICE_OF_BROKEN_NS; /* those that stay are whole */
    bool last = first + count == c->marks.items.count;
    step->kept_since_ns = c->marks.since_ns;
    step->kept_until_ns = last ? c->marks.until_ns : marks[first + count].start_ns - 1;
    step->kept_steps.count = 0;
    for (size_t i = first; i < first + count; i++)
        PACE_TRY(PACE_PUSH(&step->kept_steps, ((pace_kept_step){marks[i].label, marks[i].start_ns, marks[i].end_ns})));
    done->steps = count;
    copy_label(done->first_step, step, &marks[first]);
    copy_label(done->last_step, step, &marks[first + count - 1]);
    c->from_ns = marks[first].start_ns;
    c->until_ns = last ? INT64_MAX : step->kept_until_ns + 1; /* nothing comes after the last step but its own work */
    return PACE_OK;
}

/* Marks of other steps, of which a slice holds parts only, would be taken for whole ones. */
static bool is_other(void *context, const char *name, int64_t start_ns) {
    cutter *c = context;
    bool marks = c->look.has_regex ? pace_pattern_fits(&c->look.regex, name) : pace_name_marks_step(name);
    return marks && (start_ns < c->from_ns || start_ns >= c->until_ns);
}

static pace_status write_slice(cutter *c, pace_slice_done *done, const pace_slice_cut *cut) {
    pace_slice_job job = {.path = done->path,
                          .cut = cut,
                          .steps = &c->look.step,
                          .is_other = is_other,
                          .context = c,
                          .anonymizer = c->anonymizer,
                          .progress = c->options->progress};
    return pace_slice_write(&done->counts, done->output, &job);
}

static pace_status cut_steps(cutter *c, pace_slice_done *done) {
    pace_slice_cut cut;
    PACE_TRY(pace_slice_cut_find(&cut, done->path, c->from_ns, c->until_ns, c->classes, c->options->progress));
    pace_status status = write_slice(c, done, &cut);
    pace_slice_cut_free(&cut);
    return status;
}

/* --- the files ---------------------------------------------------------------------------------------------------- */

static bool asks_for_steps(const pace_slice_options *options) {
    return options->steps.numbers || options->steps.skip || options->step_regex;
}

static bool list_has(const char *list, int64_t rank) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, rank);
    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        if (length == strlen(text) && strncmp(list, text, length) == 0) return true;
    }
    return false;
}

static pace_status check_ranks(const char *list) {
    if (!list) return PACE_OK;
    for (const char *at = list; *at; at++)
        if (!pace_is_digit(*at) && !(*at == ',' && at > list && at[-1] != ',' && at[1]))
            return pace_fail(PACE_E_USAGE, "ranks: expected numbers such as 0,7, found '%.80s'", list);
    return *list ? PACE_OK : pace_fail(PACE_E_USAGE, "ranks: expected numbers such as 0,7, found ''");
}

static const char *suffix_of(const char *output) {
    static const char *const suffixes[] = {".json.gz", ".json.zst", ".json"};
    for (size_t i = 0; output && i < PACE_COUNT(suffixes); i++)
        if (pace_has_suffix(output, suffixes[i])) return output + strlen(output) - strlen(suffixes[i]);
    return NULL;
}

static pace_status check(const char *const *inputs, size_t count, const pace_slice_options *options) {
    PACE_TRY(check_ranks(options->ranks));
    PACE_TRY(pace_step_choice_check(&options->steps));
    if (!options->output) return pace_fail(PACE_E_USAGE, "output: expected a name that ends with .json, found none");
    struct stat about;
    for (size_t i = 0; i < count; i++)
        if (strcmp(inputs[i], "-") == 0 || (stat(inputs[i], &about) == 0 && S_ISFIFO(about.st_mode)))
            return pace_fail(PACE_E_USAGE,
                             "expected files, for each is read more than once, found %s, which comes once",
                             strcmp(inputs[i], "-") == 0 ? "standard input" : inputs[i]);
    return PACE_OK;
}

/* One slice has the name itself; of several, that of rank 3 of "run.json.gz" is "run.3.json.gz". */
static char *output_of(const char *output, bool several, int64_t number) {
    size_t length = strlen(output), room = length + 24;
    char *path = pace_alloc(room, 1);
    const char *suffix = suffix_of(output);
    if (path && several)
        snprintf(path, room, "%.*s.%" PRId64 "%s", (int)(length - strlen(suffix)), output, number, suffix);
    else if (path) memcpy(path, output, length + 1);
    return path;
}

static bool same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

static pace_status check_output(const pace_texts *paths, const char *output) {
    for (size_t i = 0; i < paths->count; i++)
        if (same_file(paths->items[i], output))
            return pace_fail(PACE_E_USAGE, "output: %s is an input: expected another file to write to", output);
    return PACE_OK;
}

static bool is_taken(const pace_slices *slices, const char *output) {
    return PACE_FIND(slices->files.items, slices->files.count, output, output) != NULL;
}

/* A rank may have several files, one a cycle of its profiler: "run.3.json", "run.3.1.json", ... */
static char *free_output(const pace_slices *slices, char *output) {
    char *numbered = output;
    for (int64_t cycle = 1; numbered && is_taken(slices, numbered); cycle++) {
        if (numbered != output) pace_free(numbered);
        numbered = output_of(output, true, cycle);
    }
    if (numbered != output) pace_free(output);
    return numbered;
}

static pace_status name_output(pace_slices *slices, pace_slice_done *done, const pace_texts *paths,
                               const pace_slice_options *options, size_t place) {
    bool several = paths->count > 1 && !(options->ranks && !strchr(options->ranks, ','));
    char *output = output_of(options->output, several, done->rank >= 0 ? done->rank : (int64_t)place);
    if (output) output = free_output(slices, output);
    if (!output) return PACE_E_MEMORY;
    pace_status status = check_output(paths, output);
    if (status == PACE_OK) done->output = output;
    else pace_free(output);
    return status;
}

static pace_status write_file(pace_slices *slices, cutter *c, const pace_texts *paths, size_t place, size_t first,
                              size_t count) {
    pace_slice_done done = {.path = pace_copy_text(paths->items[place], strlen(paths->items[place])),
                            .rank = c->look.step.rank};
    pace_status status = done.path ? name_output(slices, &done, paths, c->options, place) : PACE_E_MEMORY;
    if (status == PACE_OK && count) status = keep_steps(c, &done, first, count);
    if (status == PACE_OK) status = PACE_PUSH(&slices->files, done);
    if (status != PACE_OK) {
        PACE_FREE(done.path, done.output);
        return status;
    }
    pace_slice_done *kept = &slices->files.items[slices->files.count - 1];
    return count ? cut_steps(c, kept) : write_slice(c, kept, NULL);
}

static pace_status open_look(look *l, const pace_slice_options *options, const pace_stage_words *words) {
    *l = (look){.words = words};
    PACE_TRY(pace_step_init(&l->step));
    pace_status status =
        options->step_regex ? pace_pattern_compile(&l->regex, "step expression", options->step_regex) : PACE_OK;
    l->has_regex = options->step_regex && status == PACE_OK;
    if (status != PACE_OK) look_free(l);
    return status;
}

/* A second look, where the profiler marks no step. */
static pace_status find_marks(cutter *c, const char *path) {
    PACE_TRY(pace_marks_find(&c->marks, &c->look.step, c->words, c->options->step_regex));
    if (c->look.has_regex || c->marks.origin == PACE_MARKS_ANNOTATED) return PACE_OK;
    pace_marks_free(&c->marks);
    look_free(&c->look);
    PACE_TRY(open_look(&c->look, c->options, c->words));
    c->look.all = true;
    PACE_TRY(look_at(&c->look, path, c->options));
    return pace_marks_find(&c->marks, &c->look.step, c->words, NULL);
}

/* Of several files some may lack the steps: other cycles of the profiler. */
static pace_status slice_steps(pace_slices *slices, cutter *c, const pace_texts *paths, size_t place) {
    size_t first, count;
    PACE_TRY(find_marks(c, paths->items[place]));
    pace_status status =
        pace_step_choice_find(&first, &count, &c->options->steps, &c->marks, &c->look.step.names, paths->items[place]);
    bool lacks = status == PACE_E_USAGE, last = place + 1 == paths->count;
    if (status == PACE_OK) status = write_file(slices, c, paths, place, first, count);
    pace_marks_free(&c->marks);
    if (!lacks || (last && slices->files.count == 0)) return status;
    slices->without_steps++;
    return PACE_OK;
}

static pace_status slice_file(pace_slices *slices, cutter *c, const pace_texts *paths, size_t place) {
    const pace_slice_options *options = c->options;
    PACE_TRY(look_at(&c->look, paths->items[place], options));
    if (options->ranks && !list_has(options->ranks, c->look.step.rank)) {
        slices->other_ranks++;
        return PACE_PUSH(&slices->ranks, c->look.step.rank);
    }
    return asks_for_steps(options) ? slice_steps(slices, c, paths, place) : write_file(slices, c, paths, place, 0, 0);
}

static bool has_rank(const pace_slices *slices, const char *number, size_t length) {
    for (size_t i = 0; i < slices->files.count; i++) {
        char text[24];
        snprintf(text, sizeof text, "%" PRId64, slices->files.items[i].rank);
        if (pace_span_is(number, length, text)) return true;
    }
    return false;
}

static pace_status name_absent_ranks(pace_slices *slices, const char *asked) {
    if (!asked) return PACE_OK;
    char *absent = pace_alloc(2 * strlen(asked) + 1, 1);
    if (!absent) return PACE_E_MEMORY;
    size_t used = 0;
    for (size_t length; *asked; asked += length + (asked[length] == ',')) {
        length = strcspn(asked, ",");
        if (has_rank(slices, asked, length)) continue;
        if (used) used += (size_t)snprintf(absent + used, 3, ", ");
        memcpy(absent + used, asked, length);
        used += length;
    }
    if (used) slices->absent = absent;
    else pace_free(absent);
    return PACE_OK;
}

static pace_status fail_ranks(const pace_slices *slices, const char *asked) {
    char have[256] = "";
    PACE_ITEMS (const int64_t, rank, &slices->ranks)
        if (*rank >= 0) pace_list(have, sizeof have, ", ", "%" PRId64, *rank);
    return pace_fail(PACE_E_USAGE, "ranks: expected some that the inputs have (%s), found '%.80s'",
                     *have ? have : "none is named", asked);
}

static pace_status slice_all(pace_slices *slices, cutter *c, const pace_texts *paths) {
    for (size_t i = 0; i < paths->count; i++) {
        PACE_TRY(open_look(&c->look, c->options, c->words));
        pace_status status = slice_file(slices, c, paths, i);
        look_free(&c->look);
        PACE_TRY(status);
    }
    PACE_TRY(name_absent_ranks(slices, c->options->ranks));
    if (slices->files.count == 0 && slices->without_steps)
        return pace_fail(PACE_E_USAGE, "steps: expected some that the inputs of these ranks have, found '%.80s'",
                         c->options->steps.numbers ? c->options->steps.numbers : "");
    return slices->files.count ? PACE_OK : fail_ranks(slices, c->options->ranks ? c->options->ranks : "");
}

pace_status pace_slices_write(pace_slices *out, const char *const *inputs, size_t count,
                              const pace_slice_options *options) {
    pace_slices slices = {0};
    pace_texts paths = {0};
    pace_kernel_classes *classes = NULL;
    pace_stage_words *words = NULL;
    pace_anonymizer anonymizer;
    cutter c = {.options = options, .anonymizer = options->anonymize ? &anonymizer : NULL};
    PACE_TRY(check(inputs, count, options));
    pace_status status = pace_kernel_classes_load(&classes, options->context->catalog);
    if (status == PACE_OK) status = pace_stage_words_load(&words, options->context->catalog);
    c.classes = classes;
    c.words = words;
    if (status == PACE_OK && options->anonymize)
        status = pace_anonymizer_open(&anonymizer, options->context->catalog, classes);
    if (status == PACE_OK) status = pace_paths_find(&paths, &slices.warnings, inputs, count);
    if (status == PACE_OK) status = slice_all(&slices, &c, &paths);
    pace_texts_free(&paths);
    pace_kernel_classes_free(classes);
    pace_stage_words_free(words);
    return PACE_GIVE(out, slices, status, pace_slices_free(&slices));
}

void pace_slices_free(pace_slices *slices) {
    for (size_t i = 0; i < slices->files.count; i++) {
        PACE_FREE(slices->files.items[i].path, slices->files.items[i].output);
    }
    PACE_VEC_FREE(&slices->files, &slices->ranks);
    pace_warnings_free(&slices->warnings);
    PACE_FREE(slices->absent);
}
