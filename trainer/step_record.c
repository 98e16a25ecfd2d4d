#include "step_record.h"

#include <pthread.h>

const char *const pace_step_part_names[PACE_STEP_PARTS] = {"input", "forward", "backward", "exposed_exchange",
                                                           "update"};

int64_t pace_record_now_ns(const pace_step_record *r) {
    return pace_clock_ns_of(r->own_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

static pace_status make_record(pace_step_record *r) {
    size_t count = r->steps + 1;
    bool all = (r->whole = pace_alloc(count, sizeof *r->whole)) != NULL;
    for (int part = 0; part < PACE_STEP_PARTS; part++)
        all = (r->parts[part] = pace_alloc(count, sizeof *r->parts[part])) != NULL && all;
    r->layer_s = pace_alloc(r->layers * PACE_ENGINE_PASSES * count, sizeof *r->layer_s);
    pthread_mutex_t *lock = pace_alloc(1, sizeof *lock);
    r->lock = lock;
    if (lock) pthread_mutex_init(lock, NULL);
    return all && r->layer_s && lock ? PACE_OK : PACE_E_MEMORY;
}

pace_status pace_step_record_open(pace_step_record *out, size_t steps, size_t layers, bool traces) {
    *out = (pace_step_record){.steps = steps, .layers = layers, .step = PACE_WARMING, .traces = traces};
    pace_status status = make_record(out);
    if (status != PACE_OK) pace_step_record_close(out);
    return status;
}

void pace_step_record_close(pace_step_record *r) {
    for (int part = 0; part < PACE_STEP_PARTS; part++) pace_free(r->parts[part]);
    pace_free(r->whole);
    pace_free(r->layer_s);
    PACE_VEC_FREE(&r->events);
    PACE_VEC_FREE(&r->exchanges);
    if (r->lock) pthread_mutex_destroy(r->lock);
    pace_free(r->lock);
    *r = (pace_step_record){0};
}

static void add_event(pace_step_record *r, pace_traced_event event) {
    if (!r->traces || r->status != PACE_OK) return;
    pthread_mutex_lock(r->lock);
    r->status = PACE_PUSH(&r->events, event);
    pthread_mutex_unlock(r->lock);
}

static double seconds(int64_t start_ns, int64_t end_ns) { return (double)(end_ns - start_ns) * 1e-9; }

void pace_record_step(pace_step_record *r, uint32_t number, int64_t start_ns, int64_t end_ns) {
    if (r->step == PACE_WARMING) return;
    r->whole[r->step] = seconds(start_ns, end_ns);
    add_event(r, (pace_traced_event){start_ns, end_ns, number, PACE_TRACED_STEP, 0, 0});
}

void pace_record_part(pace_step_record *r, pace_step_part part, int64_t start_ns, int64_t end_ns) {
    if (r->step == PACE_WARMING) return;
    r->parts[part][r->step] += seconds(start_ns, end_ns);
    add_event(r, (pace_traced_event){start_ns, end_ns, (uint32_t)part, PACE_TRACED_PART, 0, 0});
}

void pace_record_layer(pace_step_record *r, uint32_t layer, pace_engine_pass pass, int64_t start_ns, int64_t end_ns) {
    if (r->step == PACE_WARMING) return;
    r->layer_s[(layer * PACE_ENGINE_PASSES + pass) * r->steps + r->step] += (float)seconds(start_ns, end_ns);
    add_event(r, (pace_traced_event){start_ns, end_ns, layer, PACE_TRACED_LAYER, (uint8_t)pass, 0});
}

void pace_record_exchange(void *record, const pace_exchange_event *event) {
    pace_step_record *r = record;
    pace_traced_exchange one = {.elements = event->elements};
    if (!r->traces || r->step == PACE_WARMING || r->status != PACE_OK) return;
    pace_snprintf(one.name, sizeof one.name, "%.31s", event->name);
    pace_snprintf(one.collective, sizeof one.collective, "%.31s", event->collective ? event->collective : "");
    pthread_mutex_lock(r->lock);
    uint32_t place = (uint32_t)r->exchanges.count;
    r->status = PACE_PUSH(&r->exchanges, one);
    if (r->status == PACE_OK)
        r->status = PACE_PUSH(&r->events, ((pace_traced_event){event->start_ns, event->end_ns, place,
                                                               PACE_TRACED_EXCHANGE, 0, (uint16_t)event->lane}));
    pthread_mutex_unlock(r->lock);
}
