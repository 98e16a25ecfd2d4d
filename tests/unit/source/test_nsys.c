/* Nsight Systems exports: PyTorch's NVTX texts, names of calls and copies, and memory that runs out. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "exhaust_reading.h"

#include "source/traces/trace_formats.h"

#ifdef PACE_HAVE_SQLITE
#include "source/traces/nsys_names.h"

#include <sqlite3.h>

static pace_nvtx_range read_text(const char *text) {
    pace_nvtx_range range;
    pace_nvtx_range_read(&range, text, strlen(text));
    return range;
}

/* What emit_nvtx writes (torch/csrc/profiler/util.cpp, getNvtxStr), and what else people write. */
TEST(texts_are_understood) {
    static const struct {
        const char *text;
        size_t name;
        bool operator, backward;
        int64_t sequence;
        const char *sizes;
    } cases[] = {
        {"aten::add, seq = 5, op_id = 12, sizes = [[2, 3], []], input_op_ids = [(7,0)]", 9, true, false, 5,
         "[[2, 3], []]"},
        {"aten::empty, op_id = 3", 11, true, false, -1, NULL},
        {"aten::empty", 11, true, false, -1, NULL},
        {"aten::mul, seq=7", 9, true, false, 7, NULL},
        {"AddmmBackward0, seq = 41, op_id = 9", 14, true, true, 41, NULL},
        {"autograd::engine::evaluate_function: MyFunction, seq = 0", 47, true, true, 0, NULL},
        {"MyFunction, seq = 4", 10, true, false, 4, NULL},
        {"fbgemm::lookup, op_id = 3", 14, true, false, -1, NULL},
        {"trainer::step", 13, false, false, -1, NULL},
        {"Optimizer.step#SGD.step, op_id = 8", 23, false, false, -1, NULL},
        {"forward", 7, false, false, -1, NULL},
        {"", 0, false, false, -1, NULL},
        {"x, seq = ", 1, false, false, -1, NULL},
        {"x, seq = 99999999999999999999", 1, false, false, -1, NULL},
        {"aten::x, sizes = [[[1, 2]", 7, true, false, -1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_nvtx_range range = read_text(cases[i].text);
        if (range.name_length != cases[i].name ||
            range.is_operator !=
                cases[i].operator|| range.is_backward != cases[i].backward || range.sequence != cases[i].sequence)
            fail_msg("%s: %zu %d %d %lld", cases[i].text, range.name_length, range.is_operator, range.is_backward,
                     (long long)range.sequence);
        assert_int_equal(range.sizes_length, cases[i].sizes ? strlen(cases[i].sizes) : 0);
        if (cases[i].sizes) assert_memory_equal(range.sizes, cases[i].sizes, range.sizes_length);
    }
}

static size_t call_length(const char *name) { return pace_nsys_call_length(name, strlen(name)); }

TEST(names_are_kinetos) {
    char text[64];
    pace_nsys_copy_name(text, sizeof text, 1, 1, 2);
    assert_string_equal(text, "Memcpy HtoD (Pinned -> Device)");
    pace_nsys_copy_name(text, sizeof text, INT64_MAX, -1, INT64_MIN);
    assert_string_equal(text, "Memcpy Unknown (Unknown -> Unknown)");
    pace_nsys_memset_name(text, sizeof text, 2);
    assert_string_equal(text, "Memset (Device)");
    assert_int_equal(call_length("cudaLaunchKernel_v7000"), strlen("cudaLaunchKernel"));
    assert_int_equal(call_length("cudaGraphLaunch_v10000"), strlen("cudaGraphLaunch"));
    assert_int_equal(call_length("cuMemcpyHtoDAsync_v2"), strlen("cuMemcpyHtoDAsync_v2"));
    assert_int_equal(call_length("_v7000"), 6);
    assert_int_equal(call_length(""), 0);
}

static const char *const export_text =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'sgemm'),(3,'aten::mm, seq = 3, sizes = [[2, 2]]');"
    "CREATE TABLE TARGET_INFO_GPU (id, name, totalMemory); INSERT INTO TARGET_INFO_GPU VALUES (0,'NVIDIA A100',8e10);"
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0,0,1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (110,120,16777217,5,1),(150,190,16777217,7,1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, demangledName);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (130,170,0,7,5,16777216,2);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (100,105,0,7,0,16777216,64,1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, contextId, streamId, correlationId, globalPid, eventId);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0,1,7,6,16777216,9);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId, correlationId, globalPid,"
    " syncType, eventId); INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (155,185,0,1,7,7,16777216,1,9);"
    "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, textId);"
    "INSERT INTO NVTX_EVENTS VALUES (100,200,59,'step',16777217,NULL),(105,125,59,NULL,16777217,3);";

static void write_export(char *path) {
    int file = mkstemp(path);
    sqlite3 *database;
    assert_true(file >= 0);
    close(file);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, export_text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static uint32_t task_named(const pace_step *step, const char *name) {
    for (uint32_t task = 0; task < step->count; task++)
        if (strcmp(pace_step_name(step, task), name) == 0) return task;
    fail_msg("no task %s", name);
    return 0;
}

TEST(rows_become_linked_tasks) {
    char path[] = "/tmp/paceline-nsys-XXXXXX";
    pace_step_list steps;
    pace_read_notes notes;
    write_export(path);
    assert_int_equal(pace_trace_read(&steps, path, &notes, (pace_progress){0}), PACE_OK);
    assert_int_equal(steps.count, 1);
    pace_step step = steps.items[0];
    assert_string_equal(notes.warning, "");
    assert_int_equal(pace_step_check(&step), PACE_OK);
    assert_int_equal(step.count, 7);
    uint32_t kernel = task_named(&step, "sgemm"), op = task_named(&step, "aten::mm");
    assert_int_equal(step.start_ns[kernel], 30); /* from the earliest */
    assert_int_equal(pace_task_ns(&step, kernel), 40);
    assert_int_equal(step.kind[op], PACE_TASK_OP);
    assert_string_equal(pace_names_text(&step.names, step.detail[op]), "[[2,2]]\n\n");
    assert_string_equal(pace_step_name(&step, pace_task_cause(&step, kernel)), "cudaLaunchKernel");
    assert_int_equal(pace_task_parent(&step, pace_task_cause(&step, kernel)), op);
    assert_string_equal(pace_step_name(&step, pace_task_parent(&step, op)), "step");
    assert_int_equal(step.waits.count, 1); /* the second call, for the kernel */
    assert_int_equal(step.waits.items[0].on, kernel);
    assert_int_equal(step.start_ns[step.waits.items[0].task], 50);
    pace_step_list_free(&steps);
    unlink(path);
}

/* A failed allocation may show as a table that breaks off nowhere: it is PACE_E_MEMORY, and nothing leaks. */
TEST(memory_runs_out) {
    char path[] = "/tmp/paceline-nsys-XXXXXX";
    write_export(path);
    exhaust_reading(path);
    unlink(path);
}
#endif

TEST(without_sqlite_the_package_is_named) {
#ifdef PACE_HAVE_SQLITE
    skip();
#else
    char path[] = "/tmp/paceline-nsys-XXXXXX";
    int file = mkstemp(path);
    pace_step_list steps;
    pace_read_notes notes;
    assert_int_equal(write(file, "SQLite format 3", 16), 16);
    close(file);
    assert_int_equal(pace_trace_read(&steps, path, &notes, (pace_progress){0}), PACE_E_MISSING);
    assert_non_null(strstr(pace_message(), "libsqlite3-dev"));
    unlink(path);
#endif
}

int main(void) { return run_tests_of_file(NULL, NULL); }
