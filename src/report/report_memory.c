/* What the framework's allocator held: peaks by device, what holds memory at the peak, a curve over time. */
#include "report/analyze_parts.h"

#include "insight/memory_use.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct {
    char device[32];
    const char *basis, *step;
    size_t events;
    int64_t peak_after_ns;
    double first_bytes, peak_bytes, last_bytes, reserved_bytes, taken_bytes;
} device_row;

static const pace_table devices = {
    .key = "memory_devices",
    .title = "Memory held by the framework's allocator",
    .audience = PACE_FOR_ALL,
    .hidden_when_empty = true,
    PACE_CELLS({"device", "device", PACE_SHOW_TEXT, PACE_OF(device_row, device)},
               {"events", "events", PACE_SHOW_INT, PACE_OF(device_row, events)},
               {"first_bytes", "at first", PACE_SHOW_BYTES, PACE_OF(device_row, first_bytes)},
               {"peak_bytes", "peak", PACE_SHOW_BYTES, PACE_OF(device_row, peak_bytes)},
               {"peak_after_ns", "peak after", PACE_SHOW_NS, PACE_OF(device_row, peak_after_ns)},
               {"peak_step", "in", PACE_SHOW_TEXT, PACE_OF(device_row, step)},
               {"last_bytes", "at last", PACE_SHOW_BYTES, PACE_OF(device_row, last_bytes)},
               {"peak_reserved_bytes", "reserved", PACE_SHOW_BYTES, PACE_OF(device_row, reserved_bytes)},
               {"taken_bytes", "taken in all", PACE_SHOW_BYTES, PACE_OF(device_row, taken_bytes)},
               {"basis", NULL, PACE_SHOW_TEXT, PACE_OF(device_row, basis)})};

/* As PyTorch numbers kinds of devices. */
static void name_device(char *out, size_t size, const pace_memory_device *device) {
    if (device->device_type == 0) snprintf(out, size, "host");
    else snprintf(out, size, "device %d", device->device_id);
}

static double bytes_or_none(int64_t bytes) { return bytes >= 0 ? (double)bytes : NAN; }

static device_row row_of(const pace_rank *rank, const pace_memory_device *from) {
    device_row row = {.basis = from->totals ? "totals" : "changes",
                      .events = from->events,
                      .peak_after_ns = from->peak_at_ns - rank->step.begins_ns,
                      .first_bytes = from->totals ? (double)from->first_bytes : NAN,
                      .peak_bytes = (double)from->peak_bytes,
                      .last_bytes = (double)from->last_bytes,
                      .reserved_bytes = bytes_or_none(from->peak_reserved_bytes),
                      .taken_bytes = (double)from->taken_bytes};
    ptrdiff_t mark = pace_marks_at(&rank->marks, from->peak_at_ns);
    row.step = mark >= 0 ? pace_names_text(&rank->step.names, rank->marks.items.items[mark].label) : NULL;
    name_device(row.device, sizeof row.device, from);
    return row;
}

static void put_devices(pace_node *root, const pace_rank *rank, const pace_memory_use *use) {
    pace_node *table = pace_open_table(root, &devices, 0);
    bool changes = false;
    for (size_t i = 0; i < use->devices.count; i++) {
        pace_table_put(table, &(device_row[]){row_of(rank, &use->devices.items[i])});
        changes |= !use->devices.items[i].totals;
    }
    if (changes)
        pace_node_note(
            root, "This recording holds changes of memory and no totals: peak and last count from 0 at its start.");
}

typedef struct {
    const char *name, *module;
    char device[32];
    size_t count;
    double taken_bytes, largest_bytes, at_peak_bytes;
} operator_row;

static const pace_table operators = {
    .key = "memory_operators",
    .title = "What took memory",
    .audience = PACE_FOR_ALL,
    .rows_shown = 8,
    .hidden_when_empty = true,
    PACE_CELLS({"name", "operator", PACE_SHOW_TEXT, PACE_OF(operator_row, name)},
               {"module", "module of the largest", PACE_SHOW_TEXT, PACE_OF(operator_row, module)},
               {"device", "device", PACE_SHOW_TEXT, PACE_OF(operator_row, device)},
               {"times", "times", PACE_SHOW_INT, PACE_OF(operator_row, count)},
               {"taken_bytes", "taken", PACE_SHOW_BYTES, PACE_OF(operator_row, taken_bytes)},
               {"largest_bytes", "largest", PACE_SHOW_BYTES, PACE_OF(operator_row, largest_bytes)},
               {"at_peak_bytes", "held at peak", PACE_SHOW_BYTES, PACE_OF(operator_row, at_peak_bytes)})};

static void put_operators(pace_node *root, const pace_rank *rank, const pace_memory_use *use) {
    const pace_names *names = &rank->step.names;
    pace_node *table = pace_open_table(root, &operators, 0);
    for (size_t i = 0; i < use->operators.count; i++) {
        const pace_memory_operator *from = &use->operators.items[i];
        operator_row row = {.name = from->name ? pace_names_text(names, from->name) : "(outside all operators)",
                            .module = from->module ? pace_names_text(names, from->module) : NULL,
                            .count = from->count,
                            .taken_bytes = (double)from->taken_bytes,
                            .largest_bytes = (double)from->largest_bytes,
                            .at_peak_bytes = bytes_or_none(from->at_peak_bytes)};
        name_device(row.device, sizeof row.device, &use->devices.items[from->device]);
        pace_table_put(table, &row);
    }
    if (use->operators.count)
        pace_node_note(
            root, "'held at peak': taken in this recording and not given back before the device's peak; the rest of "
                  "the peak was held before the recording began.");
}

enum { CURVE_POINTS = 400 };

/* The most held in each of so many stretches of time: a peak is never left out. */
static void put_curve(pace_node *chart, const pace_rank *rank, const pace_memory_device *device, int64_t from_ns,
                      int64_t to_ns) {
    int64_t sum = device->first_bytes, most = INT64_MIN, stretch = 0, began_ns = rank->step.begins_ns;
    char name[32];
    name_device(name, sizeof name, device);
    pace_chart_curve(chart, name);
    for (size_t i = 0; i < rank->step.memory.count; i++) {
        const pace_memory_event *event = &rank->step.memory.items[i];
        if (event->device_id != device->device_id || event->device_type != device->device_type) continue;
        int64_t at = (event->at_ns - from_ns) * CURVE_POINTS / (to_ns - from_ns + 1);
        if (at != stretch && most != INT64_MIN) {
            double middle_ns = (double)from_ns + ((double)stretch + 0.5) * (double)(to_ns - from_ns) / CURVE_POINTS;
            pace_chart_point(chart, (middle_ns - (double)began_ns) / 1e6, (double)most);
            most = sum;
        }
        stretch = at;
        sum = pace_memory_held(event, sum + event->bytes);
        if (sum > most) most = sum;
    }
    pace_chart_point(chart, (double)(to_ns - began_ns) / 1e6, (double)sum);
}

static void put_chart(pace_node *root, const pace_rank *rank, const pace_memory_use *use) {
    size_t count = rank->step.memory.count;
    if (count < 2) return;
    int64_t from_ns = rank->step.memory.items[0].at_ns, to_ns = rank->step.memory.items[count - 1].at_ns;
    if (to_ns <= from_ns || to_ns - from_ns > INT64_MAX / CURVE_POINTS) return;
    pace_node *chart =
        pace_node_chart(root, "Memory held over time, bytes", "ms from the start of the recording", false);
    for (size_t i = 0; i < use->devices.count; i++) put_curve(chart, rank, &use->devices.items[i], from_ns, to_ns);
}

pace_status pace_put_memory(pace_node *root, const pace_rank *rank) {
    pace_memory_use use;
    PACE_TRY(pace_memory_use_find(&use, rank));
    put_devices(root, rank, &use);
    put_operators(root, rank, &use);
    put_chart(root, rank, &use);
    pace_memory_use_free(&use);
    return PACE_OK;
}
