#include "source/traces/foreign_texts.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>

#define NSYS "export the report that they are of: nsys export --type sqlite"
#define TORCH "record the step with torch.profiler, on AMD devices too, or with Nsight Systems"
#define KERNELS "give the trace itself: profiler.export_chrome_trace(FILE)"
#define LOG                                                                                                                   \
    "a log of training",                                                                                                      \
        "it says how long steps took, not why: record some with torch.profiler; or make a table of it, for fleet " PACE_FIELD \
        "iterations a row for each worker and step (worker, iteration, step_time_ms), for predict " PACE_FIELD                \
        "rows and fit a row for each run (docs/step_rows.md)"

#define CURVE                                                                    \
    "it holds a value by step: of step times make a table for fleet " PACE_FIELD \
    "iterations (worker, iteration, step_time_ms), or "                          \
    "record some steps with torch.profiler"

enum { SIGNS = 3 };

/* A text is the first of these all of whose signs it has. One that begins as JSON has to be known by a member. */
static const struct {
    const char *signs[SIGNS], *what, *todo;
} texts[] = {
    {{"\"collective_seq_id\"", "\"pg_config\""},
     "a dump of the flight recorder of PyTorch's process groups",
     "it holds collectives alone: record some steps of each rank with torch.profiler, and give the folder"},
    {{"Self CPU", "# of Calls"}, "a table of key_averages(), which has no timeline", KERNELS},
    {{"DeepSpeed Flops Profiler"}, "a report of DeepSpeed's flops profiler, which has no timeline", TORCH},
    {{"Total Proj Time"}, "a table of statistics of Nsight Systems, which has no timeline", NSYS},
    {{"CUDA GPU Kernel Summary"}, "a table of statistics of Nsight Systems, which has no timeline", NSYS},
    {{"CUDA API Statistics"}, "a table of statistics of Nsight Systems, which has no timeline", NSYS},
    {{"CUDA Kernel Statistics"}, "a table of statistics of Nsight Systems, which has no timeline", NSYS},
    {{"Time (%)", "Total Time (ns)"}, "a table of statistics of Nsight Systems, which has no timeline", NSYS},
    {{"Time(%)", "Total Time", "Instances"}, "a table of statistics of Nsight Systems, which has no timeline", NSYS},
    {{"Time(%)", "Total Time", "Num Calls"}, "a table of statistics of Nsight Systems, which has no timeline", NSYS},
    {{"Start (ns)", "Duration (ns)"}, "a list of Nsight Systems, which does not say what launched or waited", NSYS},
    {{"== Profiling result"}, "output of nvprof", "record the program with Nsight Systems (nsys profile), then " NSYS},
    {{"Time(%)", "Calls", "Avg"},
     "output of nvprof",
     "record the program with Nsight Systems (nsys profile), then " NSYS},
    {{"Kernel Name", "Metric Name"},
     "a table of Nsight Compute, which has no timeline",
     "record one with Nsight Systems or torch.profiler"},
    {{"KernelName", "EndNs"}, "a table of rocprof", TORCH},
    {{"TotalDurationNs", "AverageNs"}, "a table of rocprof", TORCH},
    {{"Kernel_Name", "Start_Timestamp"}, "a table of rocprofv3", TORCH},
    {{"Function", "Correlation_Id", "Start_Timestamp"}, "a table of rocprofv3", TORCH},
    {{"ncalls", "tottime", "cumtime"}, "a profile of Python's own profiler", TORCH},
    {{"Wall time,Step,Value"}, "an export of TensorBoard", CURVE},
    {{"__MIN\"", "__MAX\"", "\"Step\""}, "an export of Weights & Biases", CURVE},
    {{" NCCL INFO "},
     "a log of NCCL (NCCL_DEBUG)",
     "it has no times: give a trace, or what nccl-tests printed (predict " PACE_FIELD
     "rows FILE); the topology, as " PACE_FIELD "on FILE.xml, is what a run writes to NCCL_TOPO_DUMP_FILE"},
    {{":::MLLOG"}, LOG},
    {{"elapsed time per iteration (ms)"}, LOG},
    {{"consumed samples:", "iteration"}, LOG},
    {{"'train_runtime'"}, LOG},
    {{"'loss':", "'learning_rate':", "'epoch':"}, LOG},
    {{"\"log_history\"", "\"global_step\""}, LOG},
    {{"\"current_steps\"", "\"elapsed_time\""}, LOG},
    {{"\"data_time\"", "\"iter\"", "\"mode\""}, LOG},
    {{"loss:", "tps:", "memory:"}, LOG},
    {{"loss ", "norm ", " tok/s"}, LOG},
    {{"completed step:", "TFLOP/s/device:"}, LOG},
    {{"iter ", "loss ", "mfu "}, LOG},
    {{"Epoch[", "samples/sec"}, LOG},
    {{"global_step/sec"}, LOG},
    {{"images/sec:"}, LOG},
    {{"Img/sec per "}, LOG},
    {{"ms/step", "loss:"}, LOG},
    {{"s/step", "loss:", "Epoch "}, LOG},
    {{"SamplesPerSec="}, LOG},
    {{"throughput/samples_per_sec"}, LOG},
    {{"train_step_timing in s"}, LOG},
    {{"Epoch ", "it/s"}, LOG},
};

static bool has_all(size_t i, const char *text, size_t length) {
    for (size_t k = 0; k < SIGNS && texts[i].signs[k]; k++)
        if (!pace_span_holds(text, length, texts[i].signs[k])) return false;
    return true;
}

/* "{\"" and "[{"; not the dictionaries of Python, "{'loss': …}", nor times in brackets. */
static bool begins_as_json(const char *text, size_t length) {
    size_t at = 0;
    while (at < length && pace_is_space(text[at])) at++;
    char first = at < length ? text[at++] : '\0';
    while (at < length && pace_is_space(text[at])) at++;
    char second = at < length ? text[at] : '\0';
    return (first == '{' && second == '"') || (first == '[' && second == '{');
}

/* Events one a line (JSON Lines), or with commas between them: what would be the list's is missing. */
static bool is_event_lines(const char *text, size_t length) {
    const char *next = memchr(text, '\n', length), *end = next;
    if (!next || text[0] != '{' || next + 1 == text + length || next[1] != '{') return false;
    while (end > text && (pace_is_space(end[-1]) || end[-1] == ',')) end--;
    return end[-1] == '}' && pace_span_holds(text, (size_t)(end - text), "\"ph\"");
}

pace_status pace_foreign_refuse_text(const char *path, const char *text, size_t length) {
    bool json = begins_as_json(text, length);
    if (is_event_lines(text, length))
        return pace_fail(
            PACE_E_INPUT,
            "%s: is a list of events, one a line, without its brackets: put [ before and ] behind them, and "
            "commas between (jq -s . FILE)",
            path);
    for (size_t i = 0; i < PACE_COUNT(texts); i++)
        if ((!json || texts[i].signs[0][0] == '"') && has_all(i, text, length))
            return pace_fail(PACE_E_INPUT, "%s: is %s: %s", path, texts[i].what, texts[i].todo);
    return PACE_OK;
}
