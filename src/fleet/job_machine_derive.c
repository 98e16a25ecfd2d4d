#include "fleet/job_machine_derive.h"
#include "machine/device_resolve.h"

#include <stdio.h>
#include <string.h>

/* One that outlives the machine. */
static const char *lasting_confidence(const char *confidence) {
    static const char *const words[] = {"high", "medium", "low"};
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (strcmp(words[i], confidence) == 0) return words[i];
    return "low";
}

static pace_figure_source machine_source(const pace_job_catalog *catalog, const pace_machine *machine) {
    for (size_t i = 0; i < catalog->named.machines.count; i++)
        if (strcmp(catalog->named.machines.items[i].source, machine->source) == 0)
            return (pace_figure_source){catalog->named.machines.items[i].source,
                                        lasting_confidence(machine->confidence)};
    return (pace_figure_source){"the machine as given", "given"};
}

static const pace_figure_source not_described = {"not described: as the first machine of jobs.yaml", "low"};

static void set(pace_job_machine *out, int figure, double value, pace_figure_source source) {
    out->figure[figure] = value;
    out->source[figure] = source;
}

/* What somebody reached of a peak, where that is known; else the share stays as it is. */
static void set_share(pace_job_machine *out, pace_job_resource resource, double reached, double peak,
                      pace_figure_source source) {
    if (reached > 0 && peak > 0)
        set(out, PACE_FIGURE_EFFICIENCY + (int)resource, reached < peak ? reached / peak : 1, source);
}

/* The first of some precisions that the device has. */
static pace_status set_peak(pace_job_machine *out, int figure, const pace_job_catalog *catalog,
                            const pace_device *device, const pace_precision *order, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *key = pace_precision_key(order[i]);
        double peak = device->flop_per_s[order[i]];
        if (!(peak > 0)) continue;
        set(out, figure, peak, pace_device_figure_source(&catalog->devices, device, "flop_per_s", key));
        if (figure == PACE_JOB_COMPUTE)
            set_share(out, PACE_JOB_COMPUTE, device->achievable_flop_per_s[order[i]], peak,
                      pace_device_figure_source(&catalog->devices, device, "achievable_flop_per_s", key));
        return PACE_OK;
    }
    return pace_fail(PACE_E_MISSING, "device %s: no %s is known", device->name, pace_job_figure_names[figure]);
}

static pace_status set_device(pace_job_machine *out, const pace_job_catalog *catalog, const pace_device *device) {
    static const pace_precision single[] = {PACE_TF32, PACE_FP32_MATRIX, PACE_FP32};
    static const pace_precision mixed[] = {PACE_BF16, PACE_FP16, PACE_TF32, PACE_FP32};
    const pace_device_catalog *devices = &catalog->devices;
    PACE_TRY(set_peak(out, PACE_JOB_COMPUTE, catalog, device, single, PACE_COUNT(single)));
    PACE_TRY(set_peak(out, PACE_FIGURE_MIXED, catalog, device, mixed, PACE_COUNT(mixed)));
    if (!(device->memory_bytes_per_s > 0) || !(device->memory_bytes > 0))
        return pace_fail(PACE_E_MISSING, "device %s: the size or rate of its memory is not known", device->name);
    set(out, PACE_JOB_MEMORY, device->memory_bytes_per_s,
        pace_device_figure_source(devices, device, "memory_bytes_per_s", NULL));
    set_share(out, PACE_JOB_MEMORY, device->achievable_bytes_per_s, device->memory_bytes_per_s,
              pace_device_figure_source(devices, device, "achievable_bytes_per_s", NULL));
    set_share(out, PACE_JOB_PCIE, device->pcie_pinned_bytes_per_s, device->pcie_bytes_per_s,
              pace_device_figure_source(devices, device, "pcie_pinned_bytes_per_s", NULL));
    set(out, PACE_FIGURE_DEVICE_MEMORY, device->memory_bytes,
        pace_device_figure_source(devices, device, "memory_bytes", NULL));
    if (device->pcie_bytes_per_s > 0)
        set(out, PACE_JOB_PCIE, device->pcie_bytes_per_s,
            pace_device_figure_source(devices, device, "pcie_bytes_per_s", NULL));
    else out->source[PACE_JOB_PCIE] = not_described;
    return PACE_OK;
}

/* The rate between the two devices of a server that most links join. */
static double widest_pair(const pace_machine *machine) {
    unsigned char most = 0;
    for (int i = 0; i < machine->mesh_devices; i++)
        for (int j = 0; j < machine->mesh_devices; j++)
            if (machine->bricks[i][j] > most) most = machine->bricks[i][j];
    return most > 0 && machine->brick_bytes_per_s > 0 ? most * machine->brick_bytes_per_s : machine->inside.bytes_per_s;
}

/* A machine's links have one source for all their figures: bus bandwidth of large all-reduces, of this one or a
 * sibling. */
static pace_figure_source exchanged(pace_figure_source machine) {
    return (pace_figure_source){"what large exchanges reach of the link (catalog/machines.yaml)",
                                strcmp(machine.confidence, "high") == 0 ? "medium" : machine.confidence};
}

static void set_links(pace_job_machine *out, const pace_machine *machine, pace_figure_source source) {
    const pace_figure_source alone = {"one device a server: nothing joins it but the host link", "low"};
    if (machine->pcie_bytes_per_s > 0) set(out, PACE_JOB_PCIE, machine->pcie_bytes_per_s, source);
    if (machine->between.kind != PACE_LINK_NONE) {
        set(out, PACE_JOB_NETWORK, machine->between.bytes_per_s, source);
        set_share(out, PACE_JOB_NETWORK, machine->between.efficiency, 1, exchanged(source));
    } else {
        out->source[PACE_JOB_NETWORK] = not_described;
    }
    if (machine->inside.kind != PACE_LINK_NONE) {
        set_share(out, PACE_JOB_NVLINK, machine->inside.efficiency, 1, exchanged(source));
        set(out, PACE_JOB_NVLINK, widest_pair(machine), source);
        set(out, PACE_FIGURE_NVLINK_AGGREGATE, machine->inside.bytes_per_s, source);
    } else {
        set(out, PACE_JOB_NVLINK, out->figure[PACE_JOB_PCIE], alone);
        set(out, PACE_FIGURE_NVLINK_AGGREGATE, out->figure[PACE_JOB_PCIE], alone);
    }
    set(out, PACE_FIGURE_DEVICES, machine->devices, source);
}

pace_status pace_job_machine_derive(pace_job_machine *out, const pace_job_catalog *catalog,
                                    const pace_machine *machine) {
    const pace_device *device = pace_device_find(&catalog->devices, machine->device, 0);
    pace_job_machine derived = catalog->machines.items[0];
    if (!*machine->device) return pace_device_fail_nameless();
    if (!device) return pace_fail(PACE_E_MISSING, "the catalogue has no device \"%.47s\"", machine->device);
    snprintf(derived.name, sizeof derived.name, "%s", machine->name);
    PACE_TRY(set_device(&derived, catalog, device));
    set_links(&derived, machine, machine_source(catalog, machine));
    *out = derived;
    return PACE_OK;
}
