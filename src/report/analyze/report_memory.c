/* What the framework's allocator held: peaks by device, what holds memory at the peak, a curve over time. */
#include "report/analyze/analyze_parts.h"
#include "insight/tables/memory_kinds.h"

#include <stdio.h>

typedef struct {
    char device[32];
    const char *basis, *step;
    int64_t peak_after_ns, first_bytes;
    pace_memory_device of;
} device_row;

PACE_TABLE_IF_ROWS(devices, "memory_devices", "Memory held by the framework's allocator", PACE_FOR_ALL, 0,
                   {"device", "device", PACE_SHOW_TEXT, PACE_OF(device_row, device)},
                   {"events", "events", PACE_SHOW_INT, PACE_OF(device_row, of.events)},
                   {"first_bytes", "at first", PACE_SHOW_BYTES, PACE_OF(device_row, first_bytes)},
                   {"peak_bytes", "peak", PACE_SHOW_BYTES, PACE_OF(device_row, of.peak_bytes)},
                   {"peak_after_ns", "peak after", PACE_SHOW_NS, PACE_OF(device_row, peak_after_ns)},
                   {"peak_step", "in", PACE_SHOW_TEXT, PACE_OF(device_row, step)},
                   {"last_bytes", "at last", PACE_SHOW_BYTES, PACE_OF(device_row, of.last_bytes)},
                   {"peak_reserved_bytes", "reserved", PACE_SHOW_BYTES,
                    PACE_WHOLE_OF(device_row, of.peak_reserved_bytes)},
                   {"taken_bytes", "taken in all", PACE_SHOW_BYTES, PACE_OF(device_row, of.taken_bytes)},
                   {"basis", NULL, PACE_SHOW_TEXT, PACE_OF(device_row, basis)});

/* As PyTorch numbers kinds of devices. */
static void name_device(char *out, size_t size, const pace_memory_device *device) {
    if (device->device_type == 0) snprintf(out, size, "host");
    else snprintf(out, size, "device %d", device->device_id);
}

static device_row row_of(const pace_rank *rank, const pace_memory_device *from) {
    device_row row = {.basis = from->totals ? "totals" : "changes",
                      .peak_after_ns = from->peak_at_ns - rank->step.begins_ns,
                      .first_bytes = from->totals ? from->first_bytes : PACE_NO_INT,
                      .of = *from};
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
    pace_memory_operator of;
} operator_row;

PACE_TABLE_IF_ROWS(operators, "memory_operators", "What took memory", PACE_FOR_ALL, 8,
                   {"name", "operator", PACE_SHOW_TEXT, PACE_OF(operator_row, name)},
                   {"module", "module of the largest", PACE_SHOW_TEXT, PACE_OF(operator_row, module)},
                   {"device", "device", PACE_SHOW_TEXT, PACE_OF(operator_row, device)},
                   {"times", "times", PACE_SHOW_INT, PACE_OF(operator_row, of.count)},
                   {"taken_bytes", "taken", PACE_SHOW_BYTES, PACE_OF(operator_row, of.taken_bytes)},
                   {"largest_bytes", "largest", PACE_SHOW_BYTES, PACE_OF(operator_row, of.largest_bytes)},
                   {"at_peak_bytes", "held at peak", PACE_SHOW_BYTES, PACE_WHOLE_OF(operator_row, of.at_peak_bytes)});

static void put_operators(pace_node *root, const pace_rank *rank, const pace_memory_use *use) {
    const pace_names *names = &rank->step.names;
    pace_node *table = pace_open_table(root, &operators, 0);
    PACE_ITEMS (const pace_memory_operator, from, &use->operators) {
        operator_row row = {.name = from->name ? pace_names_text(names, from->name) : "(outside all operators)",
                            .module = from->module ? pace_names_text(names, from->module) : NULL,
                            .of = *from};
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
    pace_chart_curve(chart, PACE_CURVE_LINE, "%s", name);
    PACE_ITEMS (const pace_memory_event, event, &rank->step.memory) {
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
    pace_node *chart = pace_node_chart(root, "Memory held over time, bytes", "ms from the start of the recording", 0);
    for (size_t i = 0; i < use->devices.count; i++) put_curve(chart, rank, &use->devices.items[i], from_ns, to_ns);
}

/* --- what it is held for ------------------------------------------------------------------------------------------ */

typedef struct {
    char device[32];
    const char *name;
    double peak_bytes, most_bytes, share;
    size_t count;
} kind_row;

PACE_TABLE_IF_ROWS(kind_table, "memory_kinds", "What memory is held for", PACE_FOR_ALL, 0,
                   {"device", "device", PACE_SHOW_TEXT, PACE_OF(kind_row, device)},
                   {"name", "held for", PACE_SHOW_TEXT, PACE_OF(kind_row, name)},
                   {"at_peak_bytes", "at the peak", PACE_SHOW_BYTES, PACE_OF(kind_row, peak_bytes)},
                   {"share", "share", PACE_SHOW_SHARE, PACE_OF(kind_row, share)},
                   {"most_bytes", "most at any time", PACE_SHOW_BYTES, PACE_OF(kind_row, most_bytes)},
                   {"count", "allocations", PACE_SHOW_INT, PACE_OF(kind_row, count)});

typedef struct {
    char device[32];
    int64_t at_ns;
    double total, bytes[PACE_HELD_KINDS];
} state_row;

PACE_TABLE_IF_ROWS(state_table, "memory_timeline", NULL, PACE_FOR_JSON, 0,
                   {"device", NULL, PACE_SHOW_TEXT, PACE_OF(state_row, device)},
                   {"after_ns", NULL, PACE_SHOW_INT, PACE_OF(state_row, at_ns)},
                   {"total_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, total)},
                   {"before_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, bytes[PACE_HELD_BEFORE])},
                   {"parameter_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, bytes[PACE_HELD_PARAMETERS])},
                   {"optimizer_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, bytes[PACE_HELD_OPTIMIZER])},
                   {"gradient_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, bytes[PACE_HELD_GRADIENTS])},
                   {"activation_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, bytes[PACE_HELD_ACTIVATIONS])},
                   {"input_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, bytes[PACE_HELD_INPUT])},
                   {"temporary_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, bytes[PACE_HELD_TEMPORARY])},
                   {"other_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(state_row, bytes[PACE_HELD_OTHER])});

static bool ever_held(const pace_memory_kinds *kinds, size_t k) { return kinds->most_bytes[k] > 0; }

static size_t put_kinds(pace_node *root, const pace_memory_use *use, const pace_memory_kinds *kinds) {
    pace_node *table = pace_open_table(root, &kind_table, 0);
    size_t rows = 0;
    for (size_t d = 0; d < use->devices.count; d++)
        for (size_t k = 0; kinds[d].known && k < PACE_HELD_KINDS; k++) {
            kind_row row = {.name = pace_memory_kind_names[k],
                            .peak_bytes = (double)kinds[d].peak.bytes[k],
                            .share = (double)kinds[d].peak.bytes[k] / (double)kinds[d].peak.total_bytes,
                            .most_bytes = (double)kinds[d].most_bytes[k],
                            .count = kinds[d].count[k]};
            name_device(row.device, sizeof row.device, &use->devices.items[d]);
            if (!ever_held(&kinds[d], k)) continue;
            pace_table_put(table, &row);
            rows++;
        }
    return rows;
}

static void put_states(pace_node *root, const pace_rank *rank, const pace_memory_use *use,
                       const pace_memory_kinds *kinds) {
    pace_node *table = pace_open_table(root, &state_table, 0);
    for (size_t d = 0; d < use->devices.count; d++)
        for (size_t i = 0; kinds[d].known && i < kinds[d].states.count; i++) {
            const pace_memory_state *state = &kinds[d].states.items[i];
            state_row row = {.at_ns = state->at_ns - rank->step.begins_ns, .total = (double)state->total_bytes};
            for (size_t k = 0; k < PACE_HELD_KINDS; k++) row.bytes[k] = (double)state->bytes[k];
            name_device(row.device, sizeof row.device, &use->devices.items[d]);
            pace_table_put(table, &row);
        }
}

static void put_areas(pace_node *root, const pace_rank *rank, const pace_memory_device *device,
                      const pace_memory_kinds *kinds) {
    char title[96], name[32];
    if (!kinds->known || kinds->states.count < 2) return;
    name_device(name, sizeof name, device);
    pace_snprintf(title, sizeof title, "Memory of %s by what it is held for, bytes", name);
    pace_node *chart = pace_node_chart(root, title, "ms from the start of the recording", PACE_CHART_STACKED);
    for (size_t k = 0; k < PACE_HELD_KINDS; k++) {
        if (!ever_held(kinds, k)) continue;
        pace_chart_curve(chart, PACE_CURVE_LINE, "%s", pace_memory_kind_names[k]);
        for (size_t i = 0; i < kinds->states.count; i++)
            pace_chart_point(chart, (double)(kinds->states.items[i].at_ns - rank->step.begins_ns) / 1e6,
                             (double)kinds->states.items[i].bytes[k]);
    }
}

static pace_status put_held_for(pace_node *root, const pace_rank *rank, const pace_memory_use *use) {
    pace_memory_kinds *kinds;
    PACE_TRY(pace_memory_kinds_find(&kinds, rank, use));
    if (put_kinds(root, use, kinds))
        pace_node_note(
            root, "Inferred from the stages that took the memory and gave it back. temporary: given back within the "
                  "operator or the stage; activations: kept by the forward pass; gradients: kept by the backward pass; "
                  "optimizer state: kept by the update; parameters: taken before the first step, or, of what was there "
                  "before the recording, as much as the gradients.");
    else if (use->devices.count)
        pace_node_note(root, "This recording does not say which memory is given back: what it is held for is unknown.");
    put_states(root, rank, use, kinds);
    for (size_t d = 0; d < use->devices.count; d++) put_areas(root, rank, &use->devices.items[d], &kinds[d]);
    pace_memory_kinds_free(kinds, use->devices.count);
    return PACE_OK;
}

static bool every_device_known(const pace_memory_use *use) {
    for (size_t i = 0; i < use->devices.count; i++)
        if (!use->devices.items[i].totals) return false;
    return true;
}

pace_status pace_put_memory(pace_node *root, const pace_rank *rank) {
    pace_memory_use use;
    PACE_TRY(pace_memory_use_find(&use, rank));
    put_devices(root, rank, &use);
    put_operators(root, rank, &use);
    pace_status status = use.devices.count ? put_held_for(root, rank, &use) : PACE_OK;
    if (!every_device_known(&use)) put_chart(root, rank, &use);
    pace_memory_use_free(&use);
    return status;
}
