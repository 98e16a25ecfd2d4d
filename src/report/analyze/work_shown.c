#include "report/analyze/analyze_parts.h"
#include "base/words.h"

#include <stdio.h>
#include <string.h>

static void measure(pace_work_shown *shown, const pace_rank *rank) {
    PACE_ITEMS (const pace_work_item, item, &rank->work.items)
        if (pace_work_is_chosen(item, &shown->work)) shown->total_ns += item->end_ns - item->start_ns;
}

pace_status pace_work_shown_of(pace_work_shown *out, const pace_rank *rank, const pace_analyze_options *options) {
    size_t marks = rank->marks.items.count;
    bool steps = marks && (options->steps.numbers || options->steps.skip);
    *out = (pace_work_shown){
        .work = {.start_ns = INT64_MIN, .end_ns = INT64_MAX, .stage = PACE_STAGE_NONE, .name = options->filter}};
    out->steps = steps;
    out->host_from_ns = steps ? rank->marks.items.items[0].start_ns : INT64_MIN;
    out->host_to_ns = steps ? rank->marks.items.items[marks - 1].end_ns : INT64_MAX;
    if (steps) out->work.start_ns = rank->marks.items.items[0].from_ns;
    if (steps) out->work.end_ns = rank->marks.items.items[marks - 1].to_ns;
    for (uint8_t s = 0; options->stage && s < PACE_STAGES; s++)
        if (strcmp(pace_stage_names[s], options->stage) == 0) out->work.stage = s;
    snprintf(out->name, sizeof out->name, "%s%s%s", steps ? "chosen steps" : "whole trace", options->stage ? ", " : "",
             options->stage ? options->stage : "");
    measure(out, rank);
    if (!options->stage || out->work.stage != PACE_STAGE_NONE) return PACE_OK;
    return pace_word_fail("stage", PACE_WORDS(pace_stage_names), "", options->stage);
}

pace_node *pace_work_table(pace_node *root, const pace_table *declared, unsigned flags, const pace_work_shown *shown) {
    char title[192];
    if (!declared->title) return pace_open_table(root, declared, flags);
    snprintf(title, sizeof title, "%s, %s", declared->title, shown->name);
    return pace_open_table_as(root, declared, flags, title);
}
