#include "live_files.h"

#include "base/print.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of one text. */
static pace_status write_text(const char *path, const char *format, ...) PACE_PRINTF(2, 3);
static pace_status write_text(const char *path, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = pace_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    FILE *file = length < (int)sizeof text ? fopen(path, "w") : NULL;
    bool good = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) good = false;
    return good ? PACE_OK : pace_fail(PACE_E_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static void name_file(char out[PACE_LIVE_PATH], const pace_live *l, const char *name) {
    pace_snprintf(out, PACE_LIVE_PATH, "%s/%s", l->scratch.path, name);
}

/* Neurons. Coordinators look every 5 ms: what the large probe exchanges takes many times as long on any link. MPIs
 * change how they exchange between 1 and 4 MiB, and over TCP what a byte takes falls again in the largest buffers. */
static const int neurons[PACE_LIVE_PROBES] = {16, 512, 724, 887, 1024, 3072, 6144};

double pace_live_probe_bytes(int probe) { return 4.0 * neurons[probe] * neurons[probe]; }

/* Two layers of so many neurons: what is exchanged is their square, in floats. */
static pace_status write_probe(const char *path, int n) {
    return write_text(path,
                      "family: probe%d\nabout: exchanges %d x %d floats\nsource: made here\n"
                      "inputs: {x: {features: %d}}\nloss: cross_entropy\nlayers:\n  - linear: %d\n  - linear: 2\n",
                      n, n, n, n, n);
}

/* Convolutions whose backward goes on while the gradients of the layer above, as many as the large probe's, are
 * exchanged. */
static pace_status write_work(const char *path) {
    return write_text(path, "family: work\nabout: convolutions below a layer of many parameters\nsource: made here\n"
                            "inputs: {image: {image: [32, 112, 112]}}\nloss: cross_entropy\nlayers:\n"
                            "  - conv: {out: 32, kernel: 3, pad: 1}\n  - conv: {out: 32, kernel: 3, pad: 1}\n"
                            "  - conv: {out: 32, kernel: 3, pad: 1}\n  - conv: {out: 32, kernel: 3, pad: 1}\n"
                            "  - max_pool: {kernel: 16, stride: 16}\n  - flatten\n  - linear: 6016\n  - linear: 2\n");
}

pace_status pace_live_files_make(pace_live *l) {
    PACE_TRY(pace_scratch_open(&l->scratch));
    name_file(l->entry, l, "entry.yaml");
    name_file(l->rows, l, "rows.csv");
    name_file(l->fit, l, "rows.fit");
    name_file(l->overheads, l, "overheads.json");
    name_file(l->work, l, "work.yaml");
    PACE_TRY(write_work(l->work));
    for (int i = 0; i < PACE_LIVE_PROBES; i++) {
        char name[32];
        pace_snprintf(name, sizeof name, "probe%d.yaml", i);
        name_file(l->probes[i], l, name);
        PACE_TRY(write_probe(l->probes[i], neurons[i]));
    }
    return PACE_OK;
}

pace_status pace_live_write_overheads(const char *path, double between_ns) {
    static const char *const types[] = {"t1", "t2", "t3", "t4", "t5"};
    char rows[1536] = "";
    for (size_t i = 0; i < PACE_COUNT(types); i++) {
        size_t used = strlen(rows);
        long ns = i == 0 ? (long)between_ns + 1 : 1;
        pace_snprintf(rows + used, sizeof rows - used,
                      "%s{\"workload\": \"probe\", \"type\": \"%s\", \"name\": null, \"count\": 1, \"kept\": 1, "
                      "\"mean_ns\": %ld, \"std_ns\": 0, \"median_ns\": %ld, \"samples_ns\": [%ld]}",
                      i ? ",\n" : "", types[i], ns, ns, ns);
    }
    return write_text(path, "{\"schema\": \"paceline.overheads/1\", \"profiler_event_ns\": 0, \"rows\": [\n%s]}\n",
                      rows);
}

/* An entry of a file by a path that is short enough to stand in a machine; other words as they are. */
static pace_status name_device(char *out, size_t size, const pace_live *l) {
    bool file = pace_ends(l->on, ".yaml") || pace_ends(l->on, ".yml");
    char *whole = file ? realpath(l->on, NULL) : NULL;
    pace_snprintf(out, size, "%s", l->on);
    if (!whole) return PACE_OK;
    pace_snprintf(out, size, "%s/device.yaml", l->scratch.path);
    int made = symlink(whole, out);
    free(whole);
    return made == 0 || errno == EEXIST ? PACE_OK : pace_fail(PACE_E_IO, "%s: %s", out, strerror(errno));
}

pace_status pace_live_write_machine(char path[PACE_LIVE_PATH], pace_live *l, const pace_live_road *road,
                                    double bytes_per_s) {
    char device[PACE_LIVE_PATH], name[32];
    bool near = !road->link;
    PACE_TRY(name_device(device, sizeof device, l));
    pace_snprintf(name, sizeof name, "m%u.yaml", l->machines++);
    name_file(path, l, name);
    return write_text(
        path,
        "machines:\n  - name: here\n    device: \"%s\"\n    devices: %d\n    nodes: %d\n    nics: 1\n"
        "    inside: {kind: pcie, bytes_per_s: %.9g, efficiency: 1, latency_s: 1e-6}\n"
        "    between: {kind: tcp, bytes_per_s: %.9g, efficiency: 1, latency_s: 1e-6}\n"
        "    pcie_bytes_per_s: 1e12\n    launch_s: 1e-7\n"
        "    source: \"probes of this run; nothing is copied between host and device\"\n    confidence: medium\n",
        device, near ? road->ranks : 1, near ? 1 : road->ranks, bytes_per_s, bytes_per_s);
}

pace_status pace_live_write_curve(char rows[PACE_LIVE_PATH], char fit[PACE_LIVE_PATH], pace_live *l,
                                  const pace_live_road *road, const double time_s[PACE_LIVE_PROBES]) {
    char name[32], text[1024] = "collective,bytes,ranks,nodes,algorithm,time(us)\n";
    pace_snprintf(name, sizeof name, "curve%u.csv", l->machines);
    name_file(rows, l, name);
    pace_snprintf(name, sizeof name, "curve%u.fit", l->machines++);
    name_file(fit, l, name);
    for (int i = 0; i < PACE_LIVE_PROBES; i++) {
        size_t used = strlen(text);
        if (isnan(time_s[i])) continue; /* it could not be trained */
        pace_snprintf(text + used, sizeof text - used, "allreduce,%.0f,%d,%d,%s,%.6g\n", pace_live_probe_bytes(i),
                      road->ranks, road->link ? road->ranks : 1, road->algorithm, 1e6 * time_s[i]);
    }
    return write_text(rows, "%s", text);
}
