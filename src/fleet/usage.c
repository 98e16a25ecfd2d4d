#include "fleet/usage.h"

#include "base/order.h"
#include "source/usage/usage_row.h"

#include <math.h>
#include <string.h>

static const pace_usage_field by_field[PACE_BY_STATE] = {PACE_USAGE_USER, PACE_USAGE_ACCOUNT, PACE_USAGE_QUEUE,
                                                         PACE_USAGE_TYPE, PACE_USAGE_GPU};

pace_status pace_usage_init(pace_usage *usage) {
    *usage = (pace_usage){.first_s = INFINITY, .last_s = -INFINITY, .step_s = INFINITY};
    return pace_names_init(&usage->names);
}

static void free_gauge(pace_usage_gauge *gauge) {
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++) PACE_VEC_FREE(&gauge->covered[c], &gauge->kept[c]);
    PACE_VEC_FREE(&gauge->wide);
}

void pace_usage_free(pace_usage *usage) {
    pace_names_free(&usage->names);
    PACE_ITEMS (pace_usage_gauge, gauge, &usage->gauges) free_gauge(gauge);
    PACE_VEC_FREE(&usage->runs, &usage->facts, &usage->gauges, &usage->fact_of, &usage->gauge_of, &usage->namespace_of,
                  &usage->waits);
    pace_id_set_free(&usage->seen);
    pace_usage_nodes_free(&usage->nodes);
}

static pace_status name_of(pace_name *out, pace_usage *usage, pace_usage_text text) {
    *out = 0;
    return text.length ? pace_names_add(out, &usage->names, text.data, text.length) : PACE_OK;
}

/* Two or three texts as one name, which no text of a row is: a control character stands between them. */
static pace_status joined_name(pace_name *out, pace_usage *usage, const char *mark, pace_usage_text a,
                               pace_usage_text b) {
    PACE_VEC(char) text = {0};
    pace_status status = pace_grow(&text.items, &text.capacity, a.length + b.length + 2, 1);
    if (status == PACE_OK) {
        text.items[0] = *mark;
        if (a.length) memcpy(text.items + 1, a.data, a.length);
        text.items[a.length + 1] = *mark;
        if (b.length) memcpy(text.items + a.length + 2, b.data, b.length);
        status = pace_names_add(out, &usage->names, text.items, a.length + b.length + 2);
    }
    PACE_VEC_FREE(&text);
    return status;
}

static pace_usage_text text_of(const pace_usage *usage, pace_name name) {
    const char *text = pace_usage_name(usage, name);
    return (pace_usage_text){text, strlen(text)};
}

/* The number that a name has in a list, +1; its place, which is 0 at first. */
static pace_status slot(uint32_t **out, pace_usage_numbers *of, pace_name name) {
    if (name >= of->count) {
        PACE_TRY(pace_grow(&of->items, &of->capacity, (size_t)name + 1, sizeof *of->items));
        memset(of->items + of->count, 0, (of->capacity - of->count) * sizeof *of->items);
        of->count = (size_t)name + 1;
    }
    *out = &of->items[name];
    return PACE_OK;
}

pace_status pace_usage_fact_named(pace_usage_fact **out, pace_usage *usage, pace_name name) {
    uint32_t *at;
    PACE_TRY(slot(&at, &usage->fact_of, name));
    if (*at == 0) {
        PACE_TRY(PACE_PUSH(&usage->facts, ((pace_usage_fact){.submit_s = NAN, .start_s = INFINITY})));
        *at = (uint32_t)usage->facts.count;
    }
    *out = &usage->facts.items[*at - 1];
    return PACE_OK;
}

static void see(pace_usage *usage, double time_s) {
    if (isnan(time_s)) return;
    usage->first_s = fmin(usage->first_s, time_s);
    usage->last_s = fmax(usage->last_s, time_s);
}

static pace_status names_of(pace_name by[PACE_BY_STATE], pace_usage *usage, const pace_usage_row *row) {
    for (int b = 0; b < PACE_BY_STATE; b++) PACE_TRY(name_of(&by[b], usage, row->text[by_field[b]]));
    return PACE_OK;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static void note_state(pace_usage *usage, pace_usage_run *run, const pace_usage_row *row) {
    pace_usage_text text = row->text[PACE_USAGE_STATE];
    run->state = (uint8_t)row->state;
    run->has_state = text.length > 0;
    if (text.length == 0 || row->state_known) return;
    if (usage->unknown_states++ == 0)
        pace_snprintf(usage->unknown_state, sizeof usage->unknown_state, "%.*s",
                      (int)(text.length < 40 ? text.length : 40), text.data);
}

/* Whether the same run was there before: a file given twice, two that overlap. */
static pace_status is_repeated(bool *out, pace_usage *usage, const pace_usage_run *run) {
    struct {
        double names[2], times[5];
    } key = {{run->job, run->part}, {run->start_s, run->end_s, run->gpus, run->submit_s, run->elapsed_s}};
    *out = false;
    if (run->job == 0) return PACE_OK;
    uint64_t id = pace_hash(&key, sizeof key);
    *out = pace_id_set_has(&usage->seen, id);
    return *out ? PACE_OK : pace_id_set_add(&usage->seen, id);
}

static pace_status push_run(pace_usage *usage, pace_usage_run run, pace_usage_text model, double gpus, bool split) {
    run.each *= run.gpus > 0 ? gpus / run.gpus : 0;
    run.gpus = gpus;
    run.split = split;
    if (model.length) PACE_TRY(name_of(&run.by[PACE_BY_GPU], usage, model));
    return PACE_PUSH(&usage->runs, run);
}

static pace_status push_by_model(pace_usage *usage, const pace_usage_run *run, const pace_usage_row *row) {
    pace_usage_run one = *run;
    one.row = ++usage->rows;
    if (!(run->gpus > 0) || row->gpu_kinds == 0)
        return push_run(usage, one, row->gpu_kinds ? row->gpus[0].model : (pace_usage_text){"", 0}, run->gpus, false);
    double times = row->number[PACE_USAGE_TIMES] >= 0 ? row->number[PACE_USAGE_TIMES] : 1;
    for (size_t i = 0; i < row->gpu_kinds; i++)
        PACE_TRY(push_run(usage, one, row->gpus[i].model, row->gpus[i].count * times, i > 0));
    return PACE_OK;
}

static double or_else(double value, double otherwise) { return isnan(value) ? otherwise : value; }

/* A part of a job without GPUs says when the job started, and nothing else. */
static pace_status add_part_without_gpus(pace_usage *usage, const pace_usage_row *row) {
    pace_name job;
    pace_usage_fact *fact;
    if (row->number[PACE_USAGE_SHARES] > 0) usage->on_shares++;
    else if (row->number[PACE_USAGE_CLAIMS] > 0) usage->on_claims++;
    else usage->without_gpus++;
    const pace_usage_text *part = &row->text[PACE_USAGE_PART], *whole = &row->text[PACE_USAGE_JOB];
    bool alone = part->length == whole->length && memcmp(part->data, whole->data, whole->length) == 0;
    if (!part->length || !whole->length || alone) return PACE_OK;
    PACE_TRY(name_of(&job, usage, row->text[PACE_USAGE_JOB]));
    PACE_TRY(pace_usage_fact_named(&fact, usage, job));
    fact->start_s = fmin(fact->start_s, or_else(row->number[PACE_USAGE_START], INFINITY));
    return PACE_OK;
}

/* The nodes that a run held, up to its end or, while it runs, for ever. One that ended nobody knows when holds none. */
static pace_status add_nodes(pace_usage *usage, const pace_usage_run *run, const pace_usage_row *row) {
    pace_usage_text list = row->text[PACE_USAGE_NODE];
    double end_s = isnan(run->end_s) ? run->start_s + run->elapsed_s : run->end_s;
    if (run->state == PACE_STATE_RUNNING) end_s = INFINITY;
    if (!list.length || !run->job || !(run->gpus > 0) || isnan(end_s) || isnan(run->start_s)) return PACE_OK;
    return pace_usage_nodes_add(
        &usage->nodes, &usage->names, list,
        &(pace_usage_hold){.job = run->job, .cluster = usage->of, .start_s = run->start_s, .end_s = end_s});
}

/* Some write 0 where there is no end. */
static double end_of(const double *number) {
    double end_s = number[PACE_USAGE_END];
    return end_s == 0 && number[PACE_USAGE_START] > 0 ? NAN : end_s;
}

/* Clocks that are set back between them let a start and an end seem closer by so much. */
static const double clock_change_s = 3600;

static bool is_overlong(const pace_usage_run *run) {
    return run->gpus > 0 && run->elapsed_s > run->end_s - run->start_s + clock_change_s;
}

static pace_status add_run(pace_usage *usage, const pace_usage_mapping *mapping, const pace_usage_row *row) {
    const double *n = row->number;
    double times = or_else(n[PACE_USAGE_TIMES], 1), end_s = end_of(n);
    bool open = mapping->open && row->state == PACE_STATE_RUNNING;
    pace_usage_run run = {.gpus = or_else(n[PACE_USAGE_GPUS], 0) * times,
                          .each = or_else(n[PACE_USAGE_GPUS], 0),
                          .tasks = or_else(n[PACE_USAGE_TASKS], 1),
                          .asked = n[PACE_USAGE_ASKED] * times,
                          .submit_s = n[PACE_USAGE_SUBMIT],
                          .start_s = n[PACE_USAGE_START],
                          .end_s = open ? NAN : end_s,
                          .elapsed_s = n[PACE_USAGE_ELAPSED],
                          .gpu_hours = NAN,
                          .busy = NAN};
    bool repeated, impossible = isnan(run.elapsed_s) && run.end_s < run.start_s;
    if (!impossible) {
        see(usage, run.submit_s);
        see(usage, run.start_s);
        see(usage, isnan(end_s) ? run.start_s + run.elapsed_s : end_s);
    }
    if (!(run.gpus > 0) && !(run.asked > 0)) return add_part_without_gpus(usage, row);
    usage->impossible += impossible;
    if (impossible) return PACE_OK;
    note_state(usage, &run, row);
    PACE_TRY(name_of(&run.job, usage, row->text[PACE_USAGE_JOB]));
    PACE_TRY(name_of(&run.part, usage, row->text[PACE_USAGE_PART]));
    PACE_TRY(names_of(run.by, usage, row));
    PACE_TRY(is_repeated(&repeated, usage, &run));
    if (repeated) usage->repeated++;
    if (repeated) return PACE_OK;
    usage->overlong += is_overlong(&run);
    usage->zoneless |= row->zoneless;
    usage->of_two_zones += row->zoneless && row->zoned;
    usage->year_last |= row->year_last;
    PACE_TRY(add_nodes(usage, &run, row));
    return push_by_model(usage, &run, row);
}

/* --- facts -------------------------------------------------------------------------------------------------------- */

static const pace_usage_text nothing = {"", 0};

/* What a fact is about: a part of a job, a job, or what another table calls one. */
static pace_status subject(pace_name *out, pace_usage *usage, const pace_usage_row *row) {
    pace_usage_text job = row->text[PACE_USAGE_JOB], part = row->text[PACE_USAGE_PART];
    if (job.length && part.length) return joined_name(out, usage, "\x1d", job, part);
    if (job.length) return name_of(out, usage, job);
    *out = 0;
    return row->text[PACE_USAGE_LINK].length ? joined_name(out, usage, "\x1e", row->text[PACE_USAGE_LINK], nothing)
                                             : PACE_OK;
}

static pace_status add_fact(pace_usage *usage, const pace_usage_row *row) {
    pace_name about, link = 0, by[PACE_BY_STATE];
    pace_usage_fact *fact;
    PACE_TRY(subject(&about, usage, row));
    if (about == 0) return PACE_OK;
    PACE_TRY(names_of(by, usage, row));
    if (row->text[PACE_USAGE_LINK].length)
        PACE_TRY(joined_name(&link, usage, "\x1e", row->text[PACE_USAGE_LINK], nothing));
    PACE_TRY(pace_usage_fact_named(&fact, usage, about));
    for (int b = 0; b < PACE_BY_STATE; b++)
        if (by[b]) fact->by[b] = by[b];
    if (link && link != about) fact->link = link;
    if (!isnan(row->number[PACE_USAGE_SUBMIT])) fact->submit_s = row->number[PACE_USAGE_SUBMIT];
    see(usage, row->number[PACE_USAGE_SUBMIT]);
    if (!isnan(row->number[PACE_USAGE_BUSY_GPUS])) {
        fact->busy_sum += row->number[PACE_USAGE_BUSY_GPUS];
        fact->busy_count++;
    }
    return PACE_OK;
}

/* --- counters ----------------------------------------------------------------------------------------------------- */

/* Whose counters these are: as the row says, else the job that held the node. Times must be of one kind for that. */
typedef struct {
    pace_usage_text job;
    bool by_node, shared;
} owner;

static owner owner_of(pace_usage *usage, const pace_usage_row *row) {
    pace_name job;
    pace_usage_text node = row->text[PACE_USAGE_NODE];
    if (row->text[PACE_USAGE_JOB].length || !node.length || usage->nodes.holds.count == 0 ||
        usage->zoneless != row->zoneless)
        return (owner){row->text[PACE_USAGE_JOB], false, false};
    int count = pace_usage_holder(&job, &usage->nodes, &usage->names, usage->of, node, row->number[PACE_USAGE_AT]);
    return (owner){count == 1 ? text_of(usage, job) : nothing, true, count > 1};
}

/* Of a GPU's model and profile together: a model's own number of slices counts. */
static double share_of(const pace_usage_mapping *mapping, const pace_usage_row *row) {
    enum { LONGEST = 256 };
    char text[LONGEST];
    pace_usage_text slice = row->text[PACE_USAGE_SLICE], gpu = row->text[PACE_USAGE_GPU];
    if (slice.length == 0) return 1;
    int length =
        pace_snprintf(text, sizeof text, "%.*s %.*s", (int)gpu.length, gpu.data, (int)slice.length, slice.data);
    if (length < 0 || length >= LONGEST) return 1;
    return pace_usage_share((pace_usage_text){text, (size_t)length}, mapping->fields[PACE_USAGE_SLICE].slices);
}

static pace_status new_gauge(pace_usage *usage, const owner *whose, const pace_usage_mapping *mapping,
                             const pace_usage_row *row) {
    pace_usage_gauge gauge = {.by_node = whose->by_node,
                              .shared = whose->shared,
                              .gap_s = mapping->gap_s,
                              .part = row->text[PACE_USAGE_SLICE].length > 0,
                              .share = share_of(mapping, row)};
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++) gauge.at_s[c] = gauge.first_s[c] = gauge.last_s[c] = NAN;
    PACE_TRY(name_of(&gauge.job, usage, whose->job));
    PACE_TRY(name_of(&gauge.node, usage, row->text[PACE_USAGE_NODE]));
    PACE_TRY(names_of(gauge.by, usage, row));
    return PACE_PUSH(&usage->gauges, gauge);
}

/* The gauge of a GPU and whoever has it. Texts of names move when names are added: the job's is taken last. */
static pace_status gauge_of(pace_usage_gauge **out, pace_usage *usage, const pace_usage_mapping *mapping,
                            const pace_usage_row *row) {
    pace_name device, part, both, job;
    uint32_t *at;
    owner whose = owner_of(usage, row);
    PACE_TRY(name_of(&job, usage, whose.job));
    PACE_TRY(joined_name(&device, usage, "\x1c", row->text[PACE_USAGE_NODE], row->text[PACE_USAGE_DEVICE]));
    if (usage->of) PACE_TRY(joined_name(&device, usage, "\x19", text_of(usage, usage->of), text_of(usage, device)));
    PACE_TRY(joined_name(&part, usage, "\x1a", text_of(usage, device), row->text[PACE_USAGE_PART]));
    PACE_TRY(joined_name(&both, usage, whose.shared ? "\x1b" : "\x1f", text_of(usage, job), text_of(usage, part)));
    PACE_TRY(slot(&at, &usage->gauge_of, both));
    if (*at == 0) {
        whose.job = nothing;
        PACE_TRY(new_gauge(usage, &whose, mapping, row));
        usage->gauges.items[usage->gauges.count - 1].job = job;
        usage->gauges.items[usage->gauges.count - 1].gpu = device;
        *at = (uint32_t)usage->gauges.count;
    }
    *out = &usage->gauges.items[*at - 1];
    return PACE_OK;
}

/* Values further apart than all others by more than this say nothing of the time between. */
static const double irregular = 1.5;

/* Counters may be asked for at long steps: what was thought to be one is a gap once values stand closer together. */
static void note_step(pace_usage *usage, double passed) {
    bool gaps = passed * irregular < usage->step_s;
    if (passed < usage->step_s) usage->step_s = passed;
    for (size_t i = 0; gaps && i < usage->gauges.count; i++) usage->gauges.items[i].wide.count = 0;
}

pace_status pace_usage_cover(pace_usage *usage, pace_usage_gauge *gauge, const pace_usage_between *between) {
    int c = between->counter;
    double fresh_s;
    PACE_TRY(pace_covered_add(&fresh_s, &gauge->covered[c], between->stretch));
    gauge->seconds[c] += fresh_s;
    gauge->sums[c] += fresh_s * between->value;
    usage->covered_hours[c] += gauge->share * (between->stretch.to_s - between->stretch.from_s - fresh_s) / 3600;
    return PACE_OK;
}

static pace_status add_between(pace_usage *usage, pace_usage_gauge *gauge, const pace_usage_between *between) {
    double passed = between->stretch.to_s - between->stretch.from_s;
    if (!(passed > 0)) return PACE_OK;
    if (passed < usage->step_s) note_step(usage, passed);
    if (passed <= gauge->gap_s) return pace_usage_cover(usage, gauge, between);
    return passed <= irregular * usage->step_s ? PACE_PUSH(&gauge->wide, *between) : PACE_OK;
}

/* Rows may come oldest first or newest first. */
static pace_status add_value(pace_usage *usage, pace_usage_gauge *gauge, int c, double at_s, double value) {
    double before_s = gauge->at_s[c];
    bool back = at_s < before_s;
    pace_usage_between between = {c, back ? (pace_stretch){at_s, before_s} : (pace_stretch){before_s, at_s},
                                  back ? gauge->value[c] : value};
    gauge->at_s[c] = at_s;
    gauge->value[c] = value;
    gauge->first_s[c] = fmin(gauge->first_s[c], at_s);
    gauge->last_s[c] = fmax(gauge->last_s[c], at_s);
    return add_between(usage, gauge, &between);
}

PACE_ORDER(by_time, pace_usage_value, PACE_UP(at_s) PACE_UP(value))

static pace_status take_kept(pace_usage *usage, pace_usage_gauge *gauge, int c) {
    PACE_ITEMS (const pace_usage_value, kept, &gauge->kept[c])
        PACE_TRY(add_value(usage, gauge, c, kept->at_s, kept->value));
    PACE_VEC_FREE(&gauge->kept[c]);
    return PACE_OK;
}

/* Whether values stand oldest first or newest first. */
static bool is_in_order(const pace_usage_value *values, size_t count) {
    bool up = true, down = true;
    for (size_t i = 1; i < count; i++) {
        up &= values[i].at_s >= values[i - 1].at_s;
        down &= values[i].at_s <= values[i - 1].at_s;
    }
    return up || down;
}

/* So many values tell whether rows stand in their order: one in 20,000 that do not seems to. */
enum { TELLING = 8 };

/* Values of rows that stand in no order are kept up to the end. */
static pace_status keep_value(pace_usage *usage, pace_usage_gauge *gauge, int c, double at_s, double value) {
    if (gauge->in_order[c]) return add_value(usage, gauge, c, at_s, value);
    PACE_TRY(PACE_PUSH(&gauge->kept[c], ((pace_usage_value){at_s, value})));
    gauge->in_order[c] = gauge->kept[c].count == TELLING && is_in_order(gauge->kept[c].items, TELLING);
    return gauge->in_order[c] ? take_kept(usage, gauge, c) : PACE_OK;
}

pace_status pace_usage_take_kept(pace_usage *usage) {
    PACE_ITEMS (pace_usage_gauge, gauge, &usage->gauges)
        for (int c = 0; c < PACE_USAGE_COUNTERS; c++) {
            PACE_SORT(&gauge->kept[c], by_time);
            PACE_TRY(take_kept(usage, gauge, c));
        }
    return PACE_OK;
}

/* A value stands for the time since the one before it, unless too much time lies between them. */
static pace_status add_counters(pace_usage *usage, const pace_usage_mapping *mapping, const pace_usage_row *row) {
    pace_usage_gauge *gauge;
    double at_s = row->number[PACE_USAGE_AT];
    if (isnan(at_s) || row->text[PACE_USAGE_DEVICE].length == 0) return PACE_OK;
    see(usage, at_s);
    PACE_TRY(gauge_of(&gauge, usage, mapping, row));
    for (int c = 0; c < PACE_USAGE_COUNTERS; c++) {
        double value = row->number[(int)PACE_USAGE_COUNTERS_FROM + c];
        if (!isnan(value)) PACE_TRY(keep_value(usage, gauge, c, at_s, value));
    }
    return PACE_OK;
}

static pace_status add_as_named(pace_usage *usage, const pace_usage_mapping *mapping, const pace_usage_row *row) {
    switch (mapping->of) {
    case PACE_USAGE_OF_FACTS: return add_fact(usage, row);
    case PACE_USAGE_OF_COUNTERS: return add_counters(usage, mapping, row);
    case PACE_USAGE_OF_NOTHING: return PACE_OK;
    default: return add_run(usage, mapping, row);
    }
}

enum { LONGEST_NAME = 256 };

/* "cluster/job", where there is such a text and it is not too long. */
static void name_with(pace_usage_text *out, char *room, size_t size, pace_usage_text cluster, pace_usage_text job) {
    if (!job.length || cluster.length + job.length + 2 > size) return;
    int length = pace_snprintf(room, size, "%.*s/%.*s", (int)cluster.length, cluster.data, (int)job.length, job.data);
    *out = (pace_usage_text){room, (size_t)length};
}

/* Whether the first row with a job's name and a namespace was in another one. Rows without one are of that job. */
static pace_status is_of_other_namespace(bool *out, pace_usage *usage, const pace_usage_row *row) {
    pace_name job, space;
    uint32_t *first;
    *out = false;
    if (!row->text[PACE_USAGE_JOB].length || !row->text[PACE_USAGE_NAMESPACE].length) return PACE_OK;
    PACE_TRY(name_of(&job, usage, row->text[PACE_USAGE_JOB]));
    PACE_TRY(name_of(&space, usage, row->text[PACE_USAGE_NAMESPACE]));
    PACE_TRY(slot(&first, &usage->namespace_of, job));
    if (*first == 0) *first = space;
    *out = *first != space;
    return PACE_OK;
}

/* Clusters number their jobs by themselves: those of the first keep their names, those of the others have theirs
 * before them. */
static pace_status add_of_cluster(pace_usage *usage, const pace_usage_mapping *mapping, const pace_usage_row *row) {
    static const pace_usage_field named[] = {PACE_USAGE_JOB, PACE_USAGE_PART};
    pace_usage_text cluster = row->text[PACE_USAGE_CLUSTER];
    pace_name own;
    usage->of = 0;
    if (!cluster.length) return add_as_named(usage, mapping, row);
    PACE_TRY(name_of(&own, usage, cluster));
    if (!usage->cluster) usage->cluster = own;
    if (own == usage->cluster) return add_as_named(usage, mapping, row);
    char room[PACE_COUNT(named)][LONGEST_NAME];
    pace_usage_row other = *row;
    for (size_t i = 0; i < PACE_COUNT(named); i++)
        name_with(&other.text[named[i]], room[i], LONGEST_NAME, cluster, row->text[named[i]]);
    if (usage->other_clusters++ == 0)
        pace_snprintf(usage->other_cluster, sizeof usage->other_cluster, "%s", pace_usage_name(usage, own));
    usage->of = own;
    return add_as_named(usage, mapping, &other);
}

/* Namespaces name their jobs by themselves, as clusters do. */
pace_status pace_usage_add(void *context, const pace_usage_mapping *mapping, const pace_usage_row *row) {
    bool other;
    char room[LONGEST_NAME];
    PACE_TRY(is_of_other_namespace(&other, context, row));
    if (!other) return add_of_cluster(context, mapping, row);
    pace_usage_row named = *row;
    name_with(&named.text[PACE_USAGE_JOB], room, sizeof room, row->text[PACE_USAGE_NAMESPACE],
              row->text[PACE_USAGE_JOB]);
    return add_of_cluster(context, mapping, &named);
}
