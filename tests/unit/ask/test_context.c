/* A question parses each document of the catalogue at most once, whoever asks and however often. */
#include "catalog_of_tests.h"
#include "report/engines.h"

#include "paceline/paceline.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

static const char trace[] =
    "{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100-SXM4-40GB\",\"totalGlobalMem\":42505273344}],"
    "\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":100},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::relu\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":50,"
    "\"args\":{\"Input Dims\":[[64,1024]],\"Input type\":[\"float\"]}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":5,"
    "\"args\":{\"correlation\":1}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"elementwise_kernel\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":60,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}]}";

static const char rows[] = "device,op,dtype,m,n,k\na100-40-sxm,gemm,fp16,1024,1024,1024\nh100,gemm,fp16,64,64,64\n";
static const char steps[] = "device,n_gpu,model,micro_batch,dp\nh100,16,gpt2,8,16\na100,8,gpt2,8,8\n";

static void write_file(char *path, const char *bytes) {
    memcpy(path, "/tmp/paceline-context-XXXXXX", 29);
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal((long)write(file, bytes, strlen(bytes)), (long)strlen(bytes));
    close(file);
}

static void expect_each_once(pace_status status, pace_report *report) {
    size_t documents = 0;
    if (status != PACE_OK) fail_msg("%s", pace_message());
    pace_report_free(report);
    for (const pace_catalog_file *file = pace_catalog_files; file->name; file++) {
        size_t parses = pace_catalog_parses(test_catalog(), file->name);
        if (parses > 1) fail_msg("%s was parsed %zu times", file->name, parses);
        documents += parses;
    }
    assert_true(documents >= 2);
    assert_int_equal(documents, pace_catalog_parses(test_catalog(), NULL));
}

static int fresh(void **state) {
    (void)state;
    test_catalog_close();
    return 0;
}

TEST_WITH(of_a_model, fresh, NULL) {
    static const char *const model = "gpt2", *const on[] = {"dgx-h100*2"}, *const set[] = {"dp=16"};
    const pace_predict_options options = {.context = test_context(), .on = {on, 1}, .set = {set, 1}};
    (void)state;
    for (int again = 0; again < 2; again++) {
        pace_report *report = NULL;
        pace_status status = pace_predict(&report, &model, 1, &options);
        expect_each_once(status, report);
    }
}

TEST_WITH(of_a_trace, fresh, NULL) {
    static const char *const on[] = {"h100-80-sxm"};
    const pace_predict_options options = {.context = test_context(), .on = {on, 1}};
    char path[29];
    const char *input = path;
    pace_report *report = NULL;
    (void)state;
    write_file(path, trace);
    pace_status status = pace_predict(&report, &input, 1, &options);
    unlink(path);
    expect_each_once(status, report);
}

TEST_WITH(of_rows, fresh, NULL) {
    static const char *const tables[] = {rows, steps}, *const kinds[] = {"kernel", "step"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const pace_rows_options options = {.context = test_context(), .kind = kinds[i]};
        char path[29];
        pace_report *report = NULL;
        write_file(path, tables[i]);
        pace_status status = pace_predict_rows(&report, path, &options);
        unlink(path);
        expect_each_once(status, report);
    }
}

/* Through the public interface: other verbs, and questions of predict that are no step of one model. */
TEST_WITH(of_other_questions, fresh, NULL) {
    static const char *const asked[][6] = {{"predict", "gpt2", "on=dgx-h100", "workers=1,8"},
                                           {"predict", "resnet50", "on=v100-sxm2-16", "fuse=all"},
                                           {"predict", "kind=exchange", "on=dgx-h100*2", "collective=allreduce",
                                            "bytes=1M"},
                                           {"predict", "job=architecture=allreduce_local,cnodes=8,flop=1T",
                                            "on=pai-v100"},
                                           {"plan", "gpt2", "on=dgx-h100", "set=global_batch=32"}};
    (void)state;
    for (size_t i = 0; i < PACE_COUNT(asked); i++) {
        pace_question *question;
        pace_answer *answer = NULL;
        assert_int_equal(pace_question_new(&question, test_context(), asked[i][0]), PACE_OK);
        for (int w = 1; w < 6 && asked[i][w]; w++) {
            char field[64];
            const char *text = strchr(asked[i][w], '=');
            snprintf(field, sizeof field, "%.*s", text ? (int)(text - asked[i][w]) : 0, asked[i][w]);
            assert_int_equal(text ? pace_question_set(question, field, text + 1)
                                  : pace_question_add_input(question, asked[i][w]),
                             PACE_OK);
        }
        pace_status status = pace_ask(&answer, test_context(), question);
        pace_answer_free(answer);
        pace_question_free(question);
        expect_each_once(status, NULL);
        test_catalog_close();
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
