/* The text of a trace, laid out as the PyTorch profiler writes it. */
#include "trace_print.h"
#include "simulated_ranks.h"

#include <stdlib.h>

text_output out;

void flush_out(void) {
    if (out.file && fwrite(out.buffer, 1, out.used, out.file) != out.used) {
        perror("make_trace: standard output");
        exit(3);
    }
    out.bytes += out.used;
    out.used = 0;
}

/* ---- one record ---- */

static void put_dims(const record *e) {
    const int64_t m = e->m, n = e->n, k = e->k;
#define D(x) put_int(x)
#define SEP SPACED(", ")
    SPACED(", ");
    KEY("Input Dims");
    switch (e->shape) {
    case DIMS_LINEAR:
        LIT("[["), D(m), SEP, D(k), LIT("]"), SEP, LIT("["), D(n), SEP, D(k), LIT("]"), SEP, LIT("["), D(n), LIT("]]");
        NEXT("Input type"), LIT("[\"float\""), SEP, LIT("\"float\""), SEP, LIT("\"float\"]");
        NEXT("Concrete Inputs"), LIT("[\"\""), SEP, LIT("\"\""), SEP, LIT("\"\"]");
        break;
    case DIMS_ADDMM:
        LIT("[["), D(n), LIT("]"), SEP, LIT("["), D(m), SEP, D(k), LIT("]"), SEP, LIT("["), D(k), SEP, D(n), LIT("]");
        SEP, LIT("[]"), SEP, LIT("[]]");
        NEXT("Input type"), LIT("[\"float\""), SEP, LIT("\"float\""), SEP, LIT("\"float\""), SEP, LIT("\"Scalar\"");
        SEP, LIT("\"Scalar\"]");
        NEXT("Concrete Inputs"), LIT("[\"\""), SEP, LIT("\"\""), SEP, LIT("\"\""), SEP, LIT("\"1\""), SEP,
            LIT("\"1\"]");
        break;
    case DIMS_MM:
        LIT("[["), D(m), SEP, D(k), LIT("]"), SEP, LIT("["), D(k), SEP, D(n), LIT("]]");
        NEXT("Input type"), LIT("[\"float\""), SEP, LIT("\"float\"]");
        NEXT("Concrete Inputs"), LIT("[\"\""), SEP, LIT("\"\"]");
        break;
    case DIMS_NORM:
        LIT("[["), D(m), SEP, D(n), LIT("]"), SEP, LIT("[]"), SEP, LIT("["), D(n), LIT("]"), SEP, LIT("["), D(n);
        LIT("]"), SEP, LIT("[]]");
        NEXT("Input type"), LIT("[\"float\""), SEP, LIT("\"ScalarList\""), SEP, LIT("\"float\""), SEP, LIT("\"float\"");
        SEP, LIT("\"Scalar\"]");
        NEXT("Concrete Inputs"), LIT("[\"\""), SEP, LIT("\"["), D(n), LIT("]\""), SEP, LIT("\"\""), SEP, LIT("\"\"");
        SEP, LIT("\"1.0000000000000001e-05\"]");
        break;
    default: /* one tensor of one or two dimensions */
        LIT("[["), D(m);
        if (n) SEP, D(n);
        LIT("]]");
        NEXT("Input type"), LIT("[\"float\"]");
        NEXT("Concrete Inputs"), LIT("[\"\"]");
    }
#undef D
#undef SEP
}

static void put_collective(const record *e) {
    NEXT("Collective name"), LIT("\"allreduce\"");
    NEXT("In msg nelems"), put_int(e->n);
    NEXT("Out msg nelems"), put_int(e->n);
    NEXT("Group size"), put_int(options.ranks);
    NEXT("dtype"), LIT("\"Float\"");
    NEXT("In split size"), LIT("\"[]\"");
    NEXT("Out split size"), LIT("\"[]\"");
    NEXT("Process Group Name"), LIT("\"0\"");
    NEXT("Process Group Description"), LIT("\"default_pg\"");
    NEXT("Process Group Ranks"), LIT("\"[");
    for (unsigned i = 0; i < options.ranks; i++) {
        if (i == 30) { /* the profiler cuts long lists too */
            LIT(", ...");
            break;
        }
        if (i) LIT(", ");
        put_int(i);
    }
    LIT("]\"");
}

static int64_t device_of(const record *e) { return options.devices > 1 ? e->device : options.rank % 8; }

static const char *const cat_name[] = {"cpu_op",     "user_annotation",     "cuda_runtime", "kernel",
                                       "gpu_memcpy", "gpu_user_annotation", "ac2g"};

void print_record(const record *e) {
    begin_event();
    bool device = e->cat == CAT_KERNEL || e->cat == CAT_COPY || e->cat == CAT_GPU_ANNOTATION;
    if (e->cat == CAT_FLOW) {
        KEY("ph"), LIT("\""), put(&e->phase, 1), LIT("\"");
        NEXT("id"), put_int(e->id);
        bool on_device = e->phase == 'f' && !e->fwdbwd;
        NEXT("pid"), put_int(on_device ? device_of(e) : PID);
        NEXT("tid"), put_int(on_device ? e->tid : e->tid + (int)e->device);
        NEXT("ts"), put_us(e->start), LIT(",");
        LINE("    ");
        const char *name = e->fwdbwd ? "fwdbwd" : "ac2g";
        KEY("cat"), LIT("\""), put_text(name), LIT("\"");
        NEXT("name"), LIT("\""), put_text(name), LIT("\"");
        if (e->phase == 'f') NEXT("bp"), LIT("\"e\"");
        end_event();
        return;
    }
    KEY("ph"), LIT("\"X\"");
    NEXT("cat"), LIT("\""), put_text(cat_name[e->cat]), LIT("\"");
    NEXT("name"), LIT("\""), put_text(e->name), LIT("\"");
    NEXT("pid"), put_int(device ? device_of(e) : PID);
    NEXT("tid"), put_int(device ? e->tid : e->tid + (int)e->device), LIT(",");
    LINE("    ");
    KEY("ts"), put_us(e->start);
    NEXT("dur"), put_us(e->end - e->start), LIT(",");
    LINE("    ");
    KEY("args"), LIT("{");
    LINE("      ");
    KEY("External id"), put_int(e->id);
    switch (e->cat) {
    case CAT_RUNTIME:
        LIT(","), LINE("      "), KEY("cbid"), put_int(e->cbid);
        NEXT("correlation"), put_int(e->correlation);
        break;
    case CAT_KERNEL:
        LIT(","), LINE("      "), KEY("queued"), LIT("0");
        NEXT("device"), put_int(device_of(e));
        NEXT("context"), LIT("1");
        NEXT("stream"), put_int(e->tid);
        NEXT("correlation"), put_int(e->correlation), LIT(",");
        LINE("      "), KEY("registers per thread"), put_int(e->collective ? 96 : 128), LIT(",");
        LINE("      "), KEY("shared memory"), put_int(e->k ? 73728 : 16), LIT(",");
        LINE("      "), KEY("blocks per SM"), LIT("4.740741"), LIT(",");
        LINE("      "), KEY("warps per SM"), LIT("37.925926"), LIT(",");
        LINE("      "), KEY("grid"), LIT("["), put_int(e->collective ? 24 : e->m / 128 + 1), SPACED(", ");
        put_int(e->collective ? 1 : e->n / 128 + 1), SPACED(", "), LIT("1],");
        LINE("      "), KEY("block"), LIT("["), put_int(e->collective ? 640 : 256), SPACED(", "), LIT("1"),
            SPACED(", ");
        LIT("1],");
        LINE("      "), KEY("est. achieved occupancy %"), put_int(e->k ? 25 : 100);
        if (e->collective) put_collective(e);
        break;
    case CAT_COPY:
        LIT(","), LINE("      "), KEY("device"), put_int(device_of(e));
        NEXT("context"), LIT("1");
        NEXT("stream"), put_int(e->tid);
        NEXT("correlation"), put_int(e->correlation), LIT(",");
        LINE("      "), KEY("bytes"), put_int(e->n);
        NEXT("memory bandwidth (GB/s)"), put_us(e->n * 1000 / (e->end - e->start));
        break;
    case CAT_OP:
        NEXT("Record function id"), put_int(e->backward ? e->id : 0);
        if (e->sequence >= 0) {
            NEXT("Sequence number"), put_int(e->sequence);
            NEXT("Fwd thread id"), put_int(e->backward);
        }
        if (e->shape != DIMS_NONE) put_dims(e);
        if (e->collective) put_collective(e);
        NEXT("Ev Idx"), put_int(e->id);
        break;
    default: break;
    }
    LINE("    ");
    LIT("}");
    end_event();
}

/* ---- what stands around the records ---- */

void print_head(void) {
    SPACED("\n{ "), LINE("  "), KEY("schemaVersion"), LIT("1,");
    LINE("  "), KEY("deviceProperties"), LIT("[");
    unsigned devices = options.ranks < 8 ? options.ranks : 8;
    for (unsigned i = 0; i < devices; i++) {
        if (i) LIT(",");
        LINE("    "), LIT("{"), LINE("      "), KEY("id"), put_int(i);
        NEXT("name"), LIT("\"NVIDIA A100-SXM4-40GB\""), NEXT("totalGlobalMem"), LIT("42298834944,");
        LINE("      "), KEY("computeMajor"), LIT("8"), NEXT("computeMinor"), LIT("0,");
        LINE("      "), KEY("maxThreadsPerBlock"), LIT("1024"), NEXT("maxThreadsPerMultiprocessor"), LIT("2048,");
        LINE("      "), KEY("regsPerBlock"), LIT("65536"), NEXT("warpSize"), LIT("32,");
        LINE("      "), KEY("sharedMemPerBlock"), LIT("49152"), NEXT("numSms"), LIT("108"), LINE("    "), LIT("}");
    }
    LINE("  "), LIT("],"), LINE("  "), KEY("cupti_version"), LIT("22,");
    LINE("  "), KEY("distributedInfo"), LIT("{"), KEY("backend"), LIT("\"nccl\"");
    NEXT("rank"), put_int(options.rank);
    NEXT("world_size"), put_int(options.devices > 1 ? 1 : options.ranks);
    LIT("},"), LINE("  "), KEY("record_shapes"), LIT("1,");
    LINE("  "), KEY("traceEvents"), LIT("[");
}

static void put_metadata(const char *what, int64_t pid, int64_t tid, const char *key, const char *value,
                         int64_t number) {
    begin_event();
    KEY("name"), LIT("\""), put_text(what), LIT("\"");
    NEXT("ph"), LIT("\"M\"");
    NEXT("ts"), put_us(ORIGIN_NS);
    NEXT("pid"), put_int(pid);
    NEXT("tid"), put_int(tid), LIT(",");
    LINE("    "), KEY("args"), LIT("{"), LINE("      ");
    LIT("\""), put_text(key), SPACED("\": ");
    if (value) LIT("\""), put_text(value), LIT("\"");
    else put_int(number);
    LINE("    "), LIT("}");
    end_event();
}

void print_tail(int64_t end) {
    char label[32];
    put_metadata("process_name", PID, 0, "name", "python", 0);
    put_metadata("process_labels", PID, 0, "labels", "CPU", 0);
    put_metadata("process_sort_index", PID, 0, "sort_index", NULL, PID);
    put_metadata("thread_name", PID, MAIN_TID, "name", "thread 2910249 (python)", 0);
    put_metadata("thread_name", PID, GRAD_TID, "name", "thread 2919752 (pt_autograd_0)", 0);
    int first = (int)(options.rank % 8), last = options.devices > 1 ? (int)options.devices - 1 : first;
    for (int device = first; device <= last; device++) {
        snprintf(label, sizeof label, "GPU %d", device);
        put_metadata("process_name", device, 0, "name", "python", 0);
        put_metadata("process_labels", device, 0, "labels", label, 0);
        put_metadata("process_sort_index", device, 0, "sort_index", NULL, 5000000 + device);
        for (unsigned s = 0; s < options.streams; s++) {
            snprintf(label, sizeof label, "stream %d", stream_number(s));
            put_metadata("thread_name", device, stream_number(s), "name", label, 0);
        }
    }
    begin_event();
    KEY("ph"), LIT("\"X\""), NEXT("cat"), LIT("\"Trace\""), NEXT("ts"), put_us(ORIGIN_NS), NEXT("dur");
    put_us(end - ORIGIN_NS), LIT(","), LINE("    "), KEY("pid"), LIT("\"Spans\""), NEXT("tid");
    LIT("\"PyTorch Profiler\""), LIT(","), LINE("    "), KEY("name"), LIT("\"PyTorch Profiler (0)\",");
    LINE("    "), KEY("args"), LIT("{"), LINE("      "), KEY("Op count"), LIT("0"), LINE("    "), LIT("}");
    end_event();
    begin_event();
    KEY("name"), LIT("\"Record Window End\""), NEXT("ph"), LIT("\"i\""), NEXT("s"), LIT("\"g\"");
    NEXT("pid"), LIT("\"\""), NEXT("tid"), LIT("\"\""), NEXT("ts"), put_us(end);
    end_event();
    LINE("  "), LIT("],"), LINE("  "), KEY("traceName"), LIT("\"synthetic.json\",");
    LINE("  "), KEY("displayTimeUnit"), LIT("\"ms\",");
    LINE("  "), KEY("baseTimeNanoseconds"), LIT("1711964646000000000"), LINE(""), LIT("}");
}
