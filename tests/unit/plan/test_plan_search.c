/* A search that prunes finds what one that times everything finds: the fastest, in order, and the same counts. */
#include "ask/context.h"
#include "ask/plan/plan_place.h"
#include "plan/step_least.h"

#include <math.h>

#include "cmocka_of_tests.h"

enum { WANTED = 6 };

static pace_plan_found search(pace_plan_place *p, size_t wanted) {
    const pace_plan_rules rules = {.wanted = wanted, .tie = p->step.frameworks.plan_tie};
    pace_plan_found found;
    assert_int_equal(pace_plan_search(&found, &p->step.pricer, &p->step.asked, &p->space, &rules), PACE_OK);
    return found;
}

static void compare(const pace_plan_found *all, const pace_plan_found *few) {
    assert_int_equal(all->tried, few->tried);
    assert_int_equal(all->fit, few->fit);
    assert_int_equal(all->too_large, few->too_large);
    assert_int_equal(all->may_fit, few->may_fit);
    assert_int_equal(all->refused, few->refused);
    assert_int_equal(all->pruned, 0);
    for (size_t i = 0; i < WANTED && i < all->fitting.count; i++) {
        const pace_plan_candidate *a = &all->fitting.items[i], *b = &few->fitting.items[i];
        assert_true(i < few->fitting.count && a->closed_s == b->closed_s && a->need_bytes == b->need_bytes);
        assert_true(a->alike_s == b->alike_s && a->config.zero_stage == b->config.zero_stage);
        assert_true(a->config.tp == b->config.tp && a->config.pp == b->config.pp && a->config.dp == b->config.dp);
    }
}

static void compare_sure(const pace_plan_found *all, const pace_plan_found *few) {
    const pace_plan_candidate *a = pace_plan_sure(all), *b = pace_plan_sure(few);
    assert_true((a == NULL) == (b == NULL));
    assert_true(!a || (a->closed_s == b->closed_s && a->need_bytes == b->need_bytes));
}

/* What a search knows of other configurations changes no price: each takes as long where it is asked for alone, and no
 * less than its bound. */
static void compare_alone(pace_plan_place *p, const pace_context *context, const pace_plan_found *found) {
    enum { OFTEN = 29 };
    for (size_t i = 0; i < found->fitting.count; i += i < WANTED ? 1 : OFTEN) {
        const pace_plan_candidate *one = &found->fitting.items[i];
        pace_step_pricer pricer;
        pace_step_solution alone;
        pace_step_case asked = p->step.asked;
        asked.config = one->config;
        asked.may_recompute = false;
        asked.spreads = (pace_step_spreads){0};
        assert_int_equal(pace_step_pricer_open(&pricer, context->catalog), PACE_OK);
        assert_int_equal(pace_step_settle(&alone, &pricer, &asked), PACE_OK);
        assert_true(alone.closed_s.median == one->closed_s);
        assert_true(pace_step_least_s(&alone.plan) <= alone.closed_s.median * (1 + 1e-12));
        pace_step_pricer_close(&pricer);
    }
}

/* Returns how many were pruned. */
static size_t ask(const char *model, const char *machine, const char *const *set, size_t count) {
    pace_context *context;
    pace_plan_asked asked = {.tokens = NAN, .critical_batch = NAN, .jitter = NAN};
    assert_int_equal(pace_context_open(&context), PACE_OK);
    const pace_plan_options options = {.context = context, .set = {set, count}};
    asked.options = &options;
    assert_int_equal(pace_device_catalog_load(&asked.devices, context->catalog), PACE_OK);
    pace_plan_place *place = pace_alloc(1, sizeof *place);
    assert_non_null(place);
    assert_int_equal(pace_machine_asked(&place->machine, context->catalog, machine), PACE_OK);
    assert_int_equal(pace_plan_place_open(place, &asked, model), PACE_OK);
    pace_plan_found all = search(place, 0), few = search(place, WANTED);
    compare(&all, &few);
    compare_sure(&all, &few);
    compare_alone(place, context, &all);
    size_t pruned = few.pruned;
    pace_plan_found_free(&all);
    pace_plan_found_free(&few);
    pace_plan_place_close(place);
    pace_device_catalog_free(&asked.devices);
    pace_context_free(context);
    return pruned;
}

#define ASK(model, machine, ...) \
    ask(model, machine, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

TEST(test_same) {
    size_t pruned = ASK("gpt3_175b", "dgx-h100*32", "framework=megatron-core", "global_batch=768");
    pruned += ASK("mixtral_8x7b", "dgx-h100*4", "framework=nemo", "global_batch=64");
    pruned += ASK("gpt2", "dgx-a100*3", "global_batch=96", "precision=bf16");
    pruned += ASK("llama3_8b", "dgx-h100*2", "framework=deepspeed", "global_batch=64");
    pruned +=
        ASK("llama3_70b", "hgx-b200*8", "framework=megatron-core", "global_batch=512"); /* all fast ones fit closely */
    pruned += ASK("resnet50", "dgx-1-v100*2", "global_batch=512");
    pruned += ASK("resnet50", "dgx-a100*2", "global_batch=512");
    pruned += ASK("swin_base", "dgx-a100", "global_batch=256");
    pruned += ASK("bert_base", "dgx-a100*2", "global_batch=128", "recompute=none");
    pruned += ASK("deepseek-v2-lite", "dgx-a100*2", "global_batch=128");
    pruned += ASK("llama3_8b", "dgx-a100*2", "global_batch=64");
    assert_true(pruned > 1000);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
