#include "report/plan/plan_parts.h"

#include "base/print.h"

void pace_plan_say_config(char out[PACE_PLAN_SAYS], const pace_config *config) {
    const struct {
        const char *name;
        double value;
    } ways[] = {{"tp", config->tp}, {"pp", config->pp}, {"vpp", config->vpp},
                {"cp", config->cp}, {"ep", config->ep}, {"dp", config->dp}};
    size_t used = 0;
    for (size_t i = 0; i < PACE_COUNT(ways); i++)
        if (ways[i].value > 1)
            used += (size_t)pace_snprintf(out + used, PACE_PLAN_SAYS - used, "%s%s=%.0f", used ? " " : "", ways[i].name,
                                          ways[i].value);
    if (config->schedule != 0)
        used += (size_t)pace_snprintf(out + used, PACE_PLAN_SAYS - used, " %s", pace_config_word(config, "schedule"));
    used += (size_t)pace_snprintf(out + used, PACE_PLAN_SAYS - used, "%smicro-batch %.0f", used ? ", " : "",
                                  config->micro_batch);
    unsigned modules = pace_config_modules(config);
    if (modules & ~(unsigned)PACE_MODULE_CORE_ATTN) {
        char names[PACE_MODULES_TEXT];
        used += (size_t)pace_snprintf(out + used, PACE_PLAN_SAYS - used, ", recomputation of %s",
                                      pace_config_modules_text(names, sizeof names, modules));
    } else if (config->recompute != PACE_RECOMPUTE_NONE) {
        used += (size_t)pace_snprintf(out + used, PACE_PLAN_SAYS - used, ", %s recomputation",
                                      pace_config_word(config, "recompute"));
        if (config->recompute == PACE_RECOMPUTE_FULL && config->recompute_layers > 0)
            used +=
                (size_t)pace_snprintf(out + used, PACE_PLAN_SAYS - used, " of %.0f layers", config->recompute_layers);
    }
    if (config->offload != PACE_OFFLOAD_NONE)
        used += (size_t)pace_snprintf(out + used, PACE_PLAN_SAYS - used, ", %s on the host",
                                      pace_config_word(config, "offload"));
    if (config->zero_stage > 0)
        used += (size_t)pace_snprintf(out + used, PACE_PLAN_SAYS - used, ", ZeRO %.0f", config->zero_stage);
    if (pace_config_copies(config) > 1)
        pace_snprintf(out + used, PACE_PLAN_SAYS - used, " in groups of %.0f", config->zero_group);
}

void pace_plan_say_modules(char out[PACE_MODULES_TEXT], const pace_plan_place *p, const pace_config *config) {
    unsigned modules = pace_config_modules(config);
    unsigned usual = p->step.asked.framework->reruns_attention > 0 ? PACE_MODULE_CORE_ATTN : 0;
    pace_config_modules_text(out, PACE_MODULES_TEXT, modules == usual ? 0 : modules);
}

pace_step_rate pace_plan_rate(const pace_plan_place *p, const pace_plan_choice *one) {
    pace_step_case asked = p->step.asked;
    asked.config = one->candidate.config;
    return pace_step_rate_of(&asked, one->time_s.median, p->space.devices);
}

const char *pace_plan_trained(const pace_plan_place *p) {
    return pace_model_sequence(p->step.asked.model, &p->step.asked.config) > 0 ? "tokens" : "samples";
}
