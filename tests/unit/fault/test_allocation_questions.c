/* Memory runs out at every place it can while tables are answered and fitted, exchanges and jobs predicted, fleets
 * summed up, figures recomputed. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "exhaust.h"
#include "report/engines.h"
#include "catalog_of_tests.h"

enum {
    KERNELS,
    EXCHANGES,
    STEPS,
    JOB_ROWS,
    SCALING,
    OVERHEADS,
    PROFILER,
    JOBS,
    TIMES,
    NODES,
    PODS,
    RUNS,
    COUNTERS,
    CASES,
    FILES
};

/* A table: a header, and `rows` lines of a format that is given the line's number several times. */
static const struct {
    const char *name, *header, *line;
    int rows;
} tables[FILES] = {
    [KERNELS] = {"kernels.csv", "device,m,n,k,latency_us\n", "a100-40-sxm,64,%d,%d,5%d\n", 24},
    [EXCHANGES] = {"exchanges.csv", "system,collective,nodes,gpus,bytes,time_us\n",
                   "dgx-a100,allreduce,1,8,%d000,2%d.%d\n", 12},
    [STEPS] = {"steps.csv",
               "device,n_gpu,hidden,layers,heads,seq,vocab,tp,pp,dp,micro_batch,global_batch,precision,step_time_s\n",
               "a100-80-sxm,8,1024,12,16,1%d,50000,2,1,4,2,16,bf16,0.%d%d\n", 10},
    [JOB_ROWS] = {"job_rows.csv",
                  "architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes,step_s\n",
                  "ps_worker,8,512,1%de9,1e10,1e6,1%de6,0.%d\n", 10},
    [SCALING] = {"scaling.csv", "machine,model,workers,batch,images_per_sec\n", "dgx-1-v100,lenet,2,3%d,3%d%d\n", 8},
    [OVERHEADS] = {"overheads.csv", "type,op,model,batch_size,mean_us,std_us,count\n",
                   "t2,aten::mm,model%d,12%d,5.%d,1,10\n", 6},
    [PROFILER] = {"profiler.csv", "events,profiled_us,unprofiled_us\n", "10%d,40%d,20%d\n", 6},
    [JOBS] = {"jobs.csv",
              "job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes,"
              "dense_weight_bytes,embedding_weight_bytes\n",
              "j%d,ps_worker,8,512,1%de9,1e10,1e6,1%de6,1e8,0\n", 8},
    [TIMES] = {"times.csv", "iteration,worker,time_s\n", "%d,0,0.1%d\n%d,1,0.2\n", 6},
    [NODES] = {"nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\n", "n%d,64000,2621%d,8,G%d\n", 3},
    [PODS] = {"pods.csv",
              "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time\n",
              "p%d,1000,1024,1,500,,%d,2%d,9\n", 5},
    [RUNS] = {"sacct.txt", "JobID|User|Partition|State|Submit|Start|End|Elapsed|AllocTRES|NodeList\n",
              "%d|u%d|p|COMPLETED|2026-01-01T00:00:00Z|2026-01-01T01:00:00Z|2026-01-01T02:00:00Z|01:00:00|"
              "gres/gpu:a100=1,gres/gpu=2|n0%d\n",
              6},
    [COUNTERS] = {"dcgm.csv", "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n", "2026-01-01T01:0%d:00Z,n0%d,0,5%d\n", 6},
    [CASES] = {"cases.yaml",
               "cases:\n  - {case: one, files: [kernels.csv], split: {by: n, folds: 2}, fit: none, bars: {mape: <=9}}\n"
               "  - {case: two, over: {n: [1, 2]}, before: {verb: models}, ask: {verb: models, set: [\"a={n}\"]},\n"
               "     against: {verb: models}, values: {\"models[0].layers\": \"models[name=lenet].layers + {n}\"},\n"
               "     bars: {max: <=9}}\n",
               "", 0},
};

typedef struct {
    char folder[64], path[FILES][96];
} files;

static int make_files(void **state) {
    static files made;
    *state = &made;
    snprintf(made.folder, sizeof made.folder, "/tmp/paceline-fault-XXXXXX");
    assert_non_null(mkdtemp(made.folder));
    for (int f = 0; f < FILES; f++) {
        snprintf(made.path[f], sizeof made.path[f], "%s/%s", made.folder, tables[f].name);
        FILE *file = fopen(made.path[f], "w");
        assert_non_null(file);
        fputs(tables[f].header, file);
        for (int row = 1; row <= tables[f].rows; row++) fprintf(file, tables[f].line, row, row, row);
        fclose(file);
    }
    return 0;
}

static int remove_files(void **state) {
    files *made = *state;
    for (int f = 0; f < FILES; f++) unlink(made->path[f]);
    return rmdir(made->folder);
}

/* --- what is asked ----------------------------------------------------------------------------------------------- */

static pace_status done(pace_status status, pace_report **report) {
    if (status == PACE_OK) pace_report_free(*report);
    return status;
}

static pace_status exchange(const void *context, int choice) {
    pace_report *report = NULL;
    (void)context;
    if (choice == 0)
        return done(pace_predict_exchange(&report, &(pace_exchange_options){.context = test_context(),
                                                                            .on = "dgx-h100*2",
                                                                            .bytes = "1K,1M"}),
                    &report);
    const pace_simulate_options options = {.context = test_context(), .on = "dgx-1-v100", .bytes = "1M"};
    return done(pace_simulate_exchange(&report, &options), &report);
}

static pace_status job(const void *context, int choice) {
    static const char text[] = "architecture=ps_worker,cnodes=8,batch_size=512,flop=1T,memory_access_bytes=10GB,"
                               "input_bytes=1MB,weight_traffic_bytes=100MB";
    pace_report *report = NULL;
    (void)context, (void)choice;
    return done(pace_predict_job(&report, &(pace_job_options){.context = test_context(), .job = text}), &report);
}

static pace_status scaling(const void *context, int choice) {
    static const char *const model[] = {"lenet"};
    pace_report *report = NULL;
    (void)context, (void)choice;
    return done(
        pace_predict_scaling(&report, model, 1,
                             &(pace_scaling_options){.context = test_context(), .on = "dgx-1-v100", .workers = "1,2"}),
        &report);
}

/* The whole step, walked: servers with a pull before each layer, a store, buffers. */
static pace_status walked(const void *context, int choice) {
    static const char *const model[] = {"lenet"}, *const on[] = {"dgx-1-v100"}, *const set[] = {"dp=2"};
    static const char *const approaches[] = {"grpc", "p2p", "horovod-nccl"};
    pace_report *report = NULL;
    (void)context;
    const pace_predict_options options = {.context = test_context(),
                                          .on = {on, 1},
                                          .set = {set, 1},
                                          .approach = approaches[choice]};
    return done(pace_predict(&report, model, 1, &options), &report);
}

static pace_status answer_rows(const void *context, int choice) {
    static const char *const kinds[FILES] = {
        [EXCHANGES] = "exchange", [STEPS] = "step", [JOB_ROWS] = "job", [SCALING] = "scaling"};
    const files *made = context;
    pace_report *report = NULL;
    return done(pace_predict_rows(&report, made->path[choice],
                                  &(pace_rows_options){.context = test_context(), .kind = kinds[choice]}),
                &report);
}

static pace_status fit_rows(const void *context, int choice) {
    static const char *const kinds[FILES] = {[EXCHANGES] = "exchange", [STEPS] = "step",        [JOB_ROWS] = "job",
                                             [OVERHEADS] = "overhead", [PROFILER] = "profiler", [SCALING] = "scaling"};
    const files *made = context;
    const char *path = made->path[choice];
    pace_report *report = NULL;
    return done(pace_fit(&report, &path, 1, &(pace_rows_options){.context = test_context(), .kind = kinds[choice]}),
                &report);
}

static pace_status fleet(const void *context, int choice) {
    const files *made = context;
    const char *jobs = made->path[JOBS], *times = made->path[TIMES];
    pace_report *report = NULL;
    if (choice == 0)
        return done(pace_characterize(&report, &jobs, 1,
                                      &(pace_fleet_options){.context = test_context(), .exact = true}),
                    &report);
    if (choice == 1) return done(pace_stragglers(&report, test_catalog(), &times, 1), &report);
    if (choice == 2)
        return done(pace_cluster_capacity(&report, test_catalog(), made->path[PODS], made->path[NODES]), &report);
    const char *records[] = {made->path[RUNS], made->path[COUNTERS]};
    return done(pace_cluster_usage(&report, records, 2, &(pace_usage_options){.context = test_context()}), &report);
}

static pace_status validate(const void *context, int choice) {
    const files *made = context;
    size_t missed;
    pace_report *report = NULL;
    (void)choice;
    const pace_validate_options options = {.context = test_context(),
                                           .cases_path = made->path[CASES],
                                           .data_path = made->folder,
                                           .ask = pace_ask};
    return done(pace_validate(&report, &missed, &options), &report);
}

static pace_status plan(const void *context, int choice) {
    static const char *const on[] = {"dgx-1-v100"}, *const set[] = {"global_batch=32", "micro_batch=4",
                                                                    "recompute=none"};
    const pace_plan_options options = {
        .context = test_context(), .on = {on, 1}, .set = {set, 3}, .tokens = "1G", .top = 1};
    pace_report *report = NULL;
    (void)context;
    (void)choice;
    return done(pace_plan(&report, "lenet", &options), &report);
}

/* --- tests ------------------------------------------------------------------------------------------------------- */

static void exhausts(question ask, const void *context, int choice) {
    pace_status status = ask(context, choice);
    if (status != PACE_OK) fail_msg("choice %d: %s", choice, pace_message());
    assert_true(exhaust(ask, context, choice, 12) > 12);
}

TEST(test_exchange) {
    exhausts(exchange, *state, 0);
    exhausts(exchange, *state, 1);
}

TEST(test_job) { exhausts(job, *state, 0); }

TEST(test_scaling) { exhausts(scaling, *state, 0); }

TEST(test_walked) {
    for (int choice = 0; choice < 3; choice++) exhausts(walked, *state, choice);
}

TEST(test_rows) {
    static const int asked[] = {EXCHANGES, STEPS, JOB_ROWS, SCALING};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) exhausts(answer_rows, *state, asked[i]);
}

TEST(test_fit) {
    static const int asked[] = {EXCHANGES, STEPS, JOB_ROWS, OVERHEADS, PROFILER, SCALING};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) exhausts(fit_rows, *state, asked[i]);
}

TEST(test_fleet) {
    for (int choice = 0; choice < 4; choice++) exhausts(fleet, *state, choice);
}

TEST(test_plan) { exhausts(plan, *state, 0); }

TEST(test_validate) { exhausts(validate, *state, 0); }

int main(void) {
    unsetenv("PACELINE_CATALOG");
    return run_tests_of_file(make_files, remove_files);
}
