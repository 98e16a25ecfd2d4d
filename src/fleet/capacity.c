#include "fleet/capacity.h"

#include "base/numbers.h"
#include "base/order.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILLING_STEPS = 10 };

const char *const pace_request_names[PACE_REQUESTS] = {"no GPU",      "part of a GPU", "1 GPU",
                                                       "2 to 3 GPUs", "4 to 7 GPUs",   "8 GPUs and more"};

void pace_cluster_free(pace_cluster *cluster) {
    pace_texts_free(&cluster->models);
    PACE_VEC_FREE(&cluster->pods, &cluster->nodes);
}

static int request_of(const pace_pod *pod) {
    if (pod->gpus == 0 || pod->gpu_milli == 0) return PACE_REQUEST_NONE;
    if (pod->gpus == 1) return pod->gpu_milli < PACE_GPU_WHOLE ? PACE_REQUEST_PART : PACE_REQUEST_ONE;
    return pod->gpus < 4 ? PACE_REQUEST_TWO : pod->gpus < 8 ? PACE_REQUEST_FOUR : PACE_REQUEST_EIGHT;
}

/* Free resources of a node. */
typedef struct {
    int64_t cpu_milli, memory_mib;
    int gpu_milli[PACE_NODE_MOST_GPUS];
} free_node;

/* Where a pod is: its node, and the GPUs as a set of bits. */
typedef struct {
    size_t node; /* SIZE_MAX = nowhere */
    uint32_t gpus;
} place;

/* Pods of the same shape are one kind of request when fragmentation is averaged. */
typedef struct {
    const pace_pod *pod;
    double weight;
} shape;

typedef struct {
    int64_t time_s;
    size_t pod;
    bool ends;
} event;

typedef struct {
    const pace_cluster *cluster;
    pace_capacity *out;
    free_node *nodes;
    place *places;
    event *events;
    size_t event_count;
    shape *shapes;
    size_t shape_count;
    int64_t *used; /* thousandths of GPUs, by model */
    int64_t used_all;
    size_t unplaced[PACE_REQUESTS];
} replay;

static double in_gpus(int64_t milli) { return (double)milli / PACE_GPU_WHOLE; }

static bool has_room(const replay *r, size_t node, const pace_pod *pod) {
    const free_node *left = &r->nodes[node];
    return left->cpu_milli >= pod->cpu_milli && left->memory_mib >= pod->memory_mib &&
           (pod->model < 0 || pod->model == r->cluster->nodes.items[node].model);
}

/* GPUs of a node that have enough left for the pod. */
static int gpus_that_fit(const replay *r, size_t node, const pace_pod *pod) {
    int count = 0;
    for (int g = 0; g < r->cluster->nodes.items[node].gpus; g++) count += r->nodes[node].gpu_milli[g] >= pod->gpu_milli;
    return count;
}

static int free_milli(const replay *r, size_t node) {
    int sum = 0;
    for (int g = 0; g < r->cluster->nodes.items[node].gpus; g++) sum += r->nodes[node].gpu_milli[g];
    return sum;
}

static bool fits(const replay *r, size_t node, const pace_pod *pod) {
    return has_room(r, node, pod) && (pod->gpus == 0 || gpus_that_fit(r, node, pod) >= pod->gpus);
}

static size_t best_node(const replay *r, const pace_pod *pod) {
    size_t best = SIZE_MAX;
    int64_t least = INT64_MAX, least_cpu = INT64_MAX;
    for (size_t n = 0; n < r->cluster->nodes.count; n++) {
        int64_t left = free_milli(r, n);
        if (left > least || (left == least && r->nodes[n].cpu_milli >= least_cpu) || !fits(r, n, pod)) continue;
        best = n;
        least = left;
        least_cpu = r->nodes[n].cpu_milli;
    }
    return best;
}

/* Takes (sign 1) or returns (-1) the resources of a pod. */
static void account(replay *r, const pace_pod *pod, const place *where, int sign) {
    free_node *left = &r->nodes[where->node];
    int64_t milli = (int64_t)pod->gpus * pod->gpu_milli;
    left->cpu_milli -= sign * pod->cpu_milli;
    left->memory_mib -= sign * pod->memory_mib;
    for (int g = 0; g < PACE_NODE_MOST_GPUS; g++)
        if (where->gpus >> g & 1) left->gpu_milli[g] -= sign * pod->gpu_milli;
    r->used[r->cluster->nodes.items[where->node].model] += sign * milli;
    r->used_all += sign * milli;
}

static void put(replay *r, size_t index) {
    const pace_pod *pod = &r->cluster->pods.items[index];
    place where = {.node = best_node(r, pod)};
    if (where.node != SIZE_MAX) {
        for (int n = 0; n < pod->gpus; n++) {
            int best = -1;
            const int *left = r->nodes[where.node].gpu_milli;
            for (int g = 0; g < r->cluster->nodes.items[where.node].gpus; g++)
                if (!(where.gpus >> g & 1) && left[g] >= pod->gpu_milli && (best < 0 || left[g] < left[best])) best = g;
            if (best < 0) break; /* best_node() saw enough of them */
            where.gpus |= 1u << best;
        }
        account(r, pod, &where, 1);
    } else {
        r->unplaced[request_of(pod)]++;
    }
    r->places[index] = where;
}

static void take_away(replay *r, size_t index) {
    if (r->places[index].node != SIZE_MAX) account(r, &r->cluster->pods.items[index], &r->places[index], -1);
    r->places[index].node = SIZE_MAX;
}

/* ---- fragmentation ---- */

/* Free milli-GPUs of a node that a request cannot use. */
static int lost_milli(const replay *r, size_t node, const pace_pod *request) {
    int free = free_milli(r, node), usable = 0;
    if (free == 0 || !fits(r, node, request)) return free;
    for (int g = 0; g < r->cluster->nodes.items[node].gpus; g++)
        if (r->nodes[node].gpu_milli[g] >= request->gpu_milli) usable += r->nodes[node].gpu_milli[g];
    return free - usable;
}

static double lost_on_average(const replay *r, size_t node) {
    double sum = 0;
    if (free_milli(r, node) == 0) return 0;
    for (size_t i = 0; i < r->shape_count; i++) sum += r->shapes[i].weight * lost_milli(r, node, r->shapes[i].pod);
    return sum / PACE_GPU_WHOLE;
}

/* The shapes of one kind of request, with their frequencies. */
static double lost_to_kind(const replay *r, size_t node, int kind) {
    double sum = 0, weight = 0;
    if (free_milli(r, node) == 0) return 0;
    for (size_t i = 0; i < r->shape_count; i++) {
        if (request_of(r->shapes[i].pod) != kind) continue;
        sum += r->shapes[i].weight * lost_milli(r, node, r->shapes[i].pod);
        weight += r->shapes[i].weight;
    }
    return weight > 0 ? sum / weight / PACE_GPU_WHOLE : NAN;
}

static void look_at_models(replay *r) {
    for (size_t m = 0; m < r->cluster->models.count; m++) {
        pace_model_use *use = &r->out->models[m];
        use->busiest_used = in_gpus(r->used[m]);
        use->free = use->lost_on_average = 0;
        memset(use->lost, 0, sizeof use->lost);
    }
    for (size_t n = 0; n < r->cluster->nodes.count; n++) {
        pace_model_use *use = &r->out->models[r->cluster->nodes.items[n].model];
        use->free += in_gpus(free_milli(r, n));
        use->lost_on_average += lost_on_average(r, n);
        for (int kind = PACE_REQUEST_PART; kind < PACE_REQUESTS; kind++) use->lost[kind] += lost_to_kind(r, n, kind);
    }
}

static void look(replay *r, pace_capacity_instant *out, double time_s) {
    *out = (pace_capacity_instant){.time_s = time_s, .used = in_gpus(r->used_all)};
    for (size_t n = 0; n < r->cluster->nodes.count; n++) {
        out->free += in_gpus(free_milli(r, n));
        out->lost += lost_on_average(r, n);
    }
}

/* ---- requests ---- */

PACE_ORDER(compare_shapes, shape,
           PACE_UP(pod->gpus) PACE_UP(pod->gpu_milli) PACE_UP(pod->cpu_milli) PACE_UP(pod->memory_mib)
               PACE_UP(pod->model))

static void find_shapes(replay *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->cluster->pods.count; i++)
        if (request_of(&r->cluster->pods.items[i]) != PACE_REQUEST_NONE)
            r->shapes[count++] = (shape){&r->cluster->pods.items[i], 1};
    qsort(r->shapes, count, sizeof *r->shapes, compare_shapes);
    for (size_t i = 0; i < count; i++) {
        bool same = r->shape_count > 0 && compare_shapes(&r->shapes[r->shape_count - 1], &r->shapes[i]) == 0;
        if (same) r->shapes[r->shape_count - 1].weight++;
        else r->shapes[r->shape_count++] = r->shapes[i];
    }
    for (size_t i = 0; i < r->shape_count; i++) r->shapes[i].weight /= (double)count;
}

static pace_status count_requests(replay *r) {
    size_t count = r->cluster->pods.count;
    double *waits = pace_alloc(count, sizeof *waits);
    if (!waits) return PACE_E_MEMORY;
    for (int kind = 0; kind < PACE_REQUESTS; kind++) {
        pace_request_use *use = &r->out->requests[kind];
        size_t scheduled = 0;
        for (size_t i = 0; i < count; i++) {
            const pace_pod *pod = &r->cluster->pods.items[i];
            if (request_of(pod) != kind) continue;
            use->pods++;
            use->never_scheduled += pod->scheduled_s < 0;
            if (pod->scheduled_s < 0) continue;
            use->gpu_hours += pod->gpus * pod->gpu_milli / (double)PACE_GPU_WHOLE *
                              (double)(pod->deleted_s - pod->scheduled_s) / 3600;
            waits[scheduled] = (double)(pod->scheduled_s - pod->created_s);
            use->wait_s += waits[scheduled++];
        }
        use->wait_s = scheduled ? use->wait_s / (double)scheduled : NAN;
        qsort(waits, scheduled, sizeof *waits, pace_ascending);
        use->median_wait_s = scheduled ? waits[scheduled / 2] : NAN;
    }
    pace_free(waits);
    return PACE_OK;
}

/* ---- the replay ---- */

/* Pods that end make room for pods that begin in the same second. */
PACE_ORDER(by_time, event, PACE_UP(time_s) PACE_DOWN(ends) PACE_UP(pod))

static void list_events(replay *r) {
    for (size_t i = 0; i < r->cluster->pods.count; i++) {
        const pace_pod *pod = &r->cluster->pods.items[i];
        r->places[i].node = SIZE_MAX;
        if (pod->scheduled_s < 0 || pod->deleted_s <= pod->scheduled_s) continue;
        r->events[r->event_count++] = (event){pod->scheduled_s, i, false};
        r->events[r->event_count++] = (event){pod->deleted_s, i, true};
    }
    qsort(r->events, r->event_count, sizeof *r->events, by_time);
}

static void reset(replay *r) {
    for (size_t n = 0; n < r->cluster->nodes.count; n++) {
        const pace_node_capacity *node = &r->cluster->nodes.items[n];
        r->nodes[n] = (free_node){.cpu_milli = node->cpu_milli, .memory_mib = node->memory_mib};
        for (int g = 0; g < node->gpus; g++) r->nodes[n].gpu_milli[g] = PACE_GPU_WHOLE;
    }
    r->used_all = 0;
    memset(r->used, 0, r->cluster->models.count * sizeof *r->used);
    memset(r->unplaced, 0, sizeof r->unplaced);
}

static void step(replay *r, const event *e) {
    if (e->ends) take_away(r, e->pod);
    else put(r, e->pod);
}

/* Twice: the first pass finds when most GPUs were used, the second looks at that instant and at the evenly spaced ones.
 */
static void find_busiest(replay *r) {
    int64_t most = -1;
    double area = 0, start = (double)r->events[0].time_s;
    reset(r);
    for (size_t i = 0; i < r->event_count; i++) {
        step(r, &r->events[i]);
        bool last = i + 1 == r->event_count;
        double until = last ? (double)r->events[i].time_s : (double)r->events[i + 1].time_s,
               length = until - (double)r->events[i].time_s;
        for (size_t m = 0; m < r->cluster->models.count; m++)
            r->out->models[m].used_gpu_hours += in_gpus(r->used[m]) * length / 3600;
        area += in_gpus(r->used_all) * length;
        if (length > 0 && r->used_all > most) most = r->used_all, r->out->busiest_s = (double)r->events[i].time_s;
        if (last) r->out->span_s = until - start;
    }
    r->out->mean_used = r->out->span_s > 0 ? area / r->out->span_s : 0;
}

static void look_around(replay *r) {
    double start = (double)r->events[0].time_s, every = r->out->span_s / (double)r->out->instant_count;
    size_t next = 0;
    reset(r);
    for (size_t i = 0; i < r->event_count; i++) {
        bool settled = i + 1 < r->event_count && r->events[i + 1].time_s > r->events[i].time_s;
        step(r, &r->events[i]);
        if (!settled) continue;
        double until = (double)r->events[i + 1].time_s;
        if ((double)r->events[i].time_s == r->out->busiest_s) look_at_models(r);
        for (; next < r->out->instant_count && start + ((double)next + 0.5) * every < until; next++)
            look(r, &r->out->instants[next], start + ((double)next + 0.5) * every);
    }
    r->out->instant_count = next;
}

/* ---- filling ---- */

PACE_ORDER(by_creation, event, PACE_UP(time_s) PACE_UP(pod))

static void look_filling(replay *r, int64_t asked) {
    pace_capacity_instant now;
    look(r, &now, 0);
    r->out->filling[r->out->filling_count++] =
        (pace_capacity_filling){.asked = in_gpus(asked), .used = now.used, .free = now.free, .lost = now.lost};
}

static void fill(replay *r) {
    size_t count = r->cluster->pods.count;
    int64_t asked = 0, tenth = (int64_t)(r->out->gpus * PACE_GPU_WHOLE / FILLING_STEPS);
    for (size_t i = 0; i < count; i++) r->events[i] = (event){r->cluster->pods.items[i].created_s, i, false};
    qsort(r->events, count, sizeof *r->events, by_creation);
    reset(r);
    for (size_t i = 0; i < count; i++) {
        const pace_pod *pod = &r->cluster->pods.items[r->events[i].pod];
        put(r, r->events[i].pod);
        asked += (int64_t)pod->gpus * pod->gpu_milli;
        bool step_done = asked >= (int64_t)(r->out->filling_count + 1) * tenth && r->out->filling_count < FILLING_STEPS;
        if (step_done || i + 1 == count) look_filling(r, asked);
    }
    for (int kind = 0; kind < PACE_REQUESTS; kind++) r->out->requests[kind].unplaced_filling = r->unplaced[kind];
}

static pace_status run(replay *r) {
    for (size_t n = 0; n < r->cluster->nodes.count; n++) {
        pace_model_use *use = &r->out->models[r->cluster->nodes.items[n].model];
        use->nodes++;
        use->gpus += (size_t)r->cluster->nodes.items[n].gpus;
        r->out->gpus += r->cluster->nodes.items[n].gpus;
    }
    if (!(r->out->gpus > 0)) return pace_fail(PACE_E_INPUT, "expected nodes with GPUs, found none");
    PACE_TRY(count_requests(r));
    find_shapes(r);
    list_events(r);
    if (r->event_count == 0) return pace_fail(PACE_E_INPUT, "expected pods that were scheduled and ended, found none");
    find_busiest(r);
    look_around(r);
    for (int kind = 0; kind < PACE_REQUESTS; kind++) r->out->requests[kind].unplaced = r->unplaced[kind];
    fill(r);
    for (size_t m = 0; m < r->cluster->models.count; m++)
        r->out->models[m].gpu_hours = (double)r->out->models[m].gpus * r->out->span_s / 3600;
    return PACE_OK;
}

static pace_capacity_total total_of(const pace_capacity *c, size_t models) {
    pace_capacity_total sum = {0};
    for (size_t m = 0; m < models; m++) {
        sum.busiest_used += c->models[m].busiest_used;
        sum.free += c->models[m].free;
        sum.lost += c->models[m].lost_on_average;
    }
    for (int kind = 0; kind < PACE_REQUESTS; kind++) {
        sum.gpu_hours += c->requests[kind].gpu_hours;
        sum.unplaced += c->requests[kind].unplaced;
        sum.never_scheduled += c->requests[kind].never_scheduled;
    }
    return sum;
}

static void share_of_model(pace_model_use *use) {
    use->used_share = pace_part_of(use->used_gpu_hours, use->gpu_hours);
    use->busiest_used_share = pace_part_of(use->busiest_used, (double)use->gpus);
    use->lost_share = pace_part_of(use->lost_on_average, use->free);
    for (int kind = 0; kind < PACE_REQUESTS; kind++) use->lost_shares[kind] = pace_part_of(use->lost[kind], use->free);
}

static void find_shares(pace_capacity *c, const pace_cluster *cluster) {
    pace_capacity_total *all = &c->total;
    for (size_t m = 0; m < cluster->models.count; m++) share_of_model(&c->models[m]);
    for (int kind = 0; kind < PACE_REQUESTS; kind++) {
        pace_request_use *use = &c->requests[kind];
        use->pods_share = pace_part_of((double)use->pods, (double)cluster->pods.count);
        use->gpu_hours_share = pace_part_of(use->gpu_hours, all->gpu_hours);
    }
    for (size_t i = 0; i < c->instant_count; i++) {
        pace_capacity_instant *at = &c->instants[i];
        at->used_share = pace_part_of(at->used, c->gpus);
        at->lost_share = pace_part_of(at->lost, at->free);
    }
    for (size_t i = 0; i < c->filling_count; i++) {
        pace_capacity_filling *at = &c->filling[i];
        at->asked_share = pace_part_of(at->asked, c->gpus);
        at->used_share = pace_part_of(at->used, c->gpus);
        at->lost_share = pace_part_of(at->lost, at->free);
        at->lost_of_all_share = pace_part_of(at->lost, c->gpus);
    }
    all->used_share = pace_part_of(c->mean_used, c->gpus);
    all->busiest_used_share = pace_part_of(all->busiest_used, c->gpus);
    all->lost_share = pace_part_of(all->lost, all->free);
}

pace_status pace_capacity_of(pace_capacity *out, const pace_cluster *cluster, size_t instants) {
    pace_capacity capacity = {.instant_count = instants};
    replay r = {.cluster = cluster, .out = &capacity};
    bool whole = PACE_MAKE(capacity.models, cluster->models.count) && PACE_MAKE(capacity.instants, instants) &&
                 PACE_MAKE(capacity.filling, FILLING_STEPS + 1) && PACE_MAKE(r.nodes, cluster->nodes.count) &&
                 PACE_MAKE(r.places, cluster->pods.count) && PACE_MAKE(r.events, 2 * cluster->pods.count) &&
                 PACE_MAKE(r.shapes, cluster->pods.count) && PACE_MAKE(r.used, cluster->models.count);
    pace_status status = whole ? run(&r) : PACE_E_MEMORY;
    if (status == PACE_OK) {
        capacity.total = total_of(&capacity, cluster->models.count);
        find_shares(&capacity, cluster);
    }
    PACE_FREE(r.nodes, r.places, r.events, r.shapes, r.used);
    return PACE_GIVE(out, capacity, status, pace_capacity_free(&capacity));
}

void pace_capacity_free(pace_capacity *capacity) {
    PACE_FREE(capacity->models, capacity->instants, capacity->filling);
    *capacity = (pace_capacity){0};
}
