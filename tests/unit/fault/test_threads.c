/* Memory that runs out on one thread fails the question asked there, and none asked on another. */

#include "cmocka_of_tests.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/engines.h"
#include "base/parallel.h"
#include "catalog_of_tests.h"

static atomic_bool done;
static atomic_uint_fast64_t refused;

/* More than addresses reach. */
static bool ask_too_much(void) {
    void *block = pace_alloc(1, 1), *larger = pace_resize(block, SIZE_MAX / 2, 4);
    pace_free(block);
    return larger != NULL;
}

static void *run_out(void *context) {
    (void)context;
    while (!atomic_load(&done))
        if (!ask_too_much()) atomic_fetch_add(&refused, 1);
    return NULL;
}

TEST(test_other_thread) {
    char path[] = "/tmp/paceline-threads-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    fputs("device,op,m,n,k,dtype\n", file);
    for (int i = 1; i <= 200; i++) fprintf(file, "v100-sxm2-16,gemm,%d,64,64,fp32\n", i);
    assert_int_equal(fclose(file), 0);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_out, NULL), 0);
    while (atomic_load(&refused) == 0) sched_yield();
    pace_status status = PACE_OK;
    pace_rows_options options = {.context = test_context(), .kind = "kernel"};
    uint64_t before = atomic_load(&refused);
    /* On a busy machine the other thread may not have its turn within twenty. */
    for (int i = 0; (i < 20 || atomic_load(&refused) == before) && status == PACE_OK; i++) {
        pace_report *report = NULL;
        status = pace_predict_rows(&report, path, &options);
        if (status == PACE_OK) pace_report_free(report);
    }
    assert_true(atomic_load(&refused) > before);
    atomic_store(&done, true);
    pthread_join(other, NULL);
    remove(path);
    assert_int_equal(status, PACE_OK);
}

static pace_status forget_one(void *context, size_t worker, size_t i) {
    (void)context, (void)worker;
    return i % 2 && ask_too_much() ? PACE_E_INPUT : PACE_OK;
}

TEST(test_workers) {
    uint64_t before = pace_memory_failures();
    assert_int_equal(pace_for_each(1000, forget_one, NULL), PACE_OK);
    assert_int_equal(pace_memory_failures() - before, 500);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
