#include "source/traces/foreign.h"
#include "base/memory.h"
#include "base/text.h"
#include "source/traces/foreign_texts.h"

#include <string.h>

#define NSYS "record the program with Nsight Systems (nsys profile), then export it: nsys export --type sqlite"
#define NSYS_LINES "an export of Nsight Systems as lines of JSON", "export it again: nsys export --type sqlite"
#define TORCH "record the step with torch.profiler, on AMD devices too, or with Nsight Systems"

/* By its first bytes, or else by its name's end where its content is no JSON. */
static const struct {
    const char *bytes;
    size_t length;
    const char *suffixes[3];
    const char *what, *todo;
} known[] = {
    {"{\"rocprofiler-sdk-tool\"", 23, {0}, "a profile of rocprofv3", TORCH},
    {"{\n  \"rocprofiler-sdk-tool\"", 26, {0}, "a profile of rocprofv3", TORCH},
    {"\"Kind\",\"Agent_Id\"", 17, {0}, "a table of rocprofv3", TORCH},
    {"\"Index\",\"KernelName\"", 20, {0}, "a table of rocprof", TORCH},
    {"\"Name\",\"Calls\",\"TotalDurationNs\"", 32, {0}, "a table of rocprof", TORCH},
    {"{\"Type\":", 8, {0}, NSYS_LINES},
    {"{\"type\":\"String\",", 16, {0}, NSYS_LINES},
    {"{\"data\":[\"[Unknown]\"", 20, {0}, NSYS_LINES},
    {NULL, 0, {".nsys-rep", ".qdrep"}, "a report of Nsight Systems", "export it: nsys export --type sqlite"},
    {NULL,
     0,
     {".ncu-rep"},
     "a report of Nsight Compute, which has no timeline",
     "record one with Nsight Systems or torch.profiler"},
    {NULL, 0, {".onnx"}, "a model, which has no times", "paceline predict FILE --on DEVICE"},
    {NULL, 0, {".onnx.gz", ".onnx.zst"}, "a compressed model", "decompress it: gzip -d or zstd -d"},
    {NULL, 0, {".xplane.pb", ".pb"}, "a profile of JAX or TensorFlow", NSYS},
    {NULL, 0, {".pftrace", ".perfetto-trace"}, "a Perfetto trace in protobuf", TORCH},
    {NULL,
     0,
     {".csv", ".csv.gz", ".tsv"},
     "a table",
     "fleet reads tables of jobs, predict answers one question a row (" PACE_FIELD "rows FILE), fit learns from one"},
};

/* JSON of other programs, by a member at its top. */
static const struct {
    const char *member, *what, *todo;
} documents[] = {
    {"_class_name", "a configuration of diffusers",
     "name the model, as sd-1.5, sdxl, dit-xl or flux.1-dev (paceline models)"},
    {"nbformat", "a notebook of Jupyter", TORCH},
    {"profiles", "a profile of speedscope or py-spy", TORCH},
};

static bool begins(size_t i, const unsigned char *bytes, size_t length) {
    return known[i].bytes && length >= known[i].length && memcmp(bytes, known[i].bytes, known[i].length) == 0;
}

static bool ends(size_t i, const char *path, const unsigned char *bytes, size_t length) {
    if (length > 0 && (bytes[0] == '{' || bytes[0] == '[')) return false;
    for (size_t k = 0; k < PACE_COUNT(known[i].suffixes) && known[i].suffixes[k]; k++)
        if (pace_ends(path, known[i].suffixes[k])) return true;
    return false;
}

static pace_status refuse(size_t i, const char *path) {
    return pace_fail(PACE_E_INPUT, "%s: is %s: %s", path, known[i].what, known[i].todo);
}

pace_status pace_foreign_refuse(const char *path, const unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < PACE_COUNT(known); i++)
        if (begins(i, bytes, length)) return refuse(i, path);
    PACE_TRY(pace_foreign_refuse_text(path, (const char *)bytes, length));
    for (size_t i = 0; i < PACE_COUNT(known); i++)
        if (ends(i, path, bytes, length)) return refuse(i, path);
    return PACE_OK;
}

pace_status pace_foreign_refuse_member(const char *path, const pace_json *json) {
    for (size_t i = 0; i < PACE_COUNT(documents); i++)
        if (pace_json_is(json, documents[i].member))
            return pace_fail(PACE_E_INPUT, "%s: is %s: %s", path, documents[i].what, documents[i].todo);
    return PACE_OK;
}

/* As rocprofv3 and the older RPD begin the names of their tables. */
pace_status pace_foreign_refuse_table(const char *path, const char *table) {
    if (!pace_starts(table, "rocpd_")) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: is a database of rocprofv3 (rocpd): %s", path, TORCH);
}
