#include "insight/tables/memory_use.h"

#include "base/order.h"
#include "insight/tables/memory_lives.h"
#include "insight/tables/operators.h"

#include <stdlib.h>

typedef struct {
    const pace_step *step;
    pace_memory_use use;
    uint8_t *device_of; /* event -> device */
    uint32_t *partner;  /* memory_lives.h */
} finder;

enum { MOST_DEVICES = 255 };

/* --- devices ------------------------------------------------------------------------------------------------------ */

static pace_status device_of(uint8_t *out, finder *f, const pace_memory_event *event) {
    size_t d = 0;
    while (d < f->use.devices.count && (f->use.devices.items[d].device_id != event->device_id ||
                                        f->use.devices.items[d].device_type != event->device_type))
        d++;
    if (d == MOST_DEVICES) return pace_fail(PACE_E_LIMIT, "memory events of more than %d devices", MOST_DEVICES);
    if (d == f->use.devices.count) {
        pace_memory_device device = {.device_id = event->device_id,
                                     .device_type = event->device_type,
                                     .peak_bytes = INT64_MIN,
                                     .peak_reserved_bytes = -1,
                                     .totals = event->allocated_bytes >= 0};
        device.first_bytes = device.totals ? event->allocated_bytes - event->bytes : 0;
        device.last_bytes = device.first_bytes;
        PACE_TRY(PACE_PUSH(&f->use.devices, device));
    }
    *out = (uint8_t)d;
    return PACE_OK;
}

static void count_event(pace_memory_device *device, const pace_memory_event *event, size_t number) {
    device->events++;
    *(event->bytes > 0 ? &device->taken_bytes : &device->given_back_bytes) += llabs(event->bytes);
    device->last_bytes = pace_memory_held(event, device->last_bytes + event->bytes);
    if (event->reserved_bytes > device->peak_reserved_bytes) device->peak_reserved_bytes = event->reserved_bytes;
    if (device->last_bytes <= device->peak_bytes) return;
    device->peak_bytes = device->last_bytes;
    device->peak_at_ns = event->at_ns;
    device->peak_event = number;
}

static pace_status find_devices(finder *f) {
    for (size_t i = 0; i < f->step->memory.count; i++) {
        const pace_memory_event *event = &f->step->memory.items[i];
        PACE_TRY(device_of(&f->device_of[i], f, event));
        count_event(&f->use.devices.items[f->device_of[i]], event, i);
    }
    return PACE_OK;
}

/* Whether an event's device still holds at its peak what the event took. */
static bool held_at_peak(const finder *f, uint32_t event) {
    size_t peak = f->use.devices.items[f->device_of[event]].peak_event;
    return event <= peak && f->step->memory.items[event].address != 0 && f->partner[event] > peak;
}

/* --- operators ---------------------------------------------------------------------------------------------------- */

/* One allocation, to be summed by operator. */
typedef struct {
    size_t device;
    pace_name name;
    uint32_t event, op;
} allocation;

PACE_ORDER(by_operator, allocation, PACE_UP(device) PACE_UP(name) PACE_UP(event))

static size_t gather(allocation *out, const finder *f) {
    const pace_step *step = f->step;
    size_t count = 0;
    for (uint32_t i = 0; i < step->memory.count; i++) {
        const pace_memory_event *event = &step->memory.items[i];
        if (event->bytes <= 0) continue;
        uint32_t op = pace_memory_asker(step, event);
        out[count++] = (allocation){f->device_of[i], op == PACE_NO_TASK ? 0 : step->name[op], i, op};
    }
    if (count) qsort(out, count, sizeof *out, by_operator);
    return count;
}

static pace_memory_operator sum_of(const finder *f, const allocation *of, size_t count) {
    pace_memory_operator row = {.device = of->device, .name = of->name, .count = count};
    uint32_t largest = PACE_NO_TASK;
    bool addresses = false;
    for (size_t i = 0; i < count; i++) {
        const pace_memory_event *event = &f->step->memory.items[of[i].event];
        row.taken_bytes += event->bytes;
        addresses |= event->address != 0;
        if (held_at_peak(f, of[i].event)) row.at_peak_bytes += event->bytes;
        if (event->bytes <= row.largest_bytes) continue;
        row.largest_bytes = event->bytes;
        largest = of[i].op;
    }
    uint32_t module = largest == PACE_NO_TASK ? PACE_NO_TASK : pace_module_of(f->step, largest);
    if (module != PACE_NO_TASK) row.module = f->step->name[module];
    if (!addresses) row.at_peak_bytes = -1;
    return row;
}

PACE_ORDER(by_bytes, pace_memory_operator,
           PACE_DOWN(at_peak_bytes) PACE_DOWN(taken_bytes) PACE_UP(device) PACE_UP(name))

static pace_status find_operators(finder *f) {
    allocation *all = pace_alloc(f->step->memory.count, sizeof *all);
    if (!all) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    size_t count = gather(all, f);
    for (size_t i = 0, next; i < count && status == PACE_OK; i = next) {
        for (next = i + 1; next < count && all[next].device == all[i].device && all[next].name == all[i].name; next++) {
        }
        status = PACE_PUSH(&f->use.operators, sum_of(f, all + i, next - i));
    }
    pace_free(all);
    PACE_SORT(&f->use.operators, by_bytes);
    return status;
}

pace_status pace_memory_use_find(pace_memory_use *out, const pace_rank *rank) {
    finder f = {.step = &rank->step, .device_of = pace_alloc(rank->step.memory.count, sizeof *f.device_of)};
    pace_status status = f.device_of ? pace_memory_lives(&f.partner, f.step) : PACE_E_MEMORY;
    if (status == PACE_OK) status = find_devices(&f);
    if (status == PACE_OK) status = find_operators(&f);
    PACE_FREE(f.device_of, f.partner);
    return PACE_GIVE(out, f.use, status, pace_memory_use_free(&f.use));
}

void pace_memory_use_free(pace_memory_use *use) { PACE_VEC_FREE(&use->devices, &use->operators); }
