/* A cluster's GPU-hours drawn: what they were used for, by user, queue, type, GPU and size. */
#include "report/show.h"
#include "report/usage_parts.h"

#include <math.h>
#include <stdio.h>

enum { BARS = 12 };

static const char *const parts[] = {"busy, by counters", "idle, by counters", "without counters"};

static void draw_bar(pace_node *chart, const char *name, const pace_usage_group *g, double whole) {
    char text[96];
    pace_snprintf(text, sizeof text, "%.40s, %s", name, pace_show_int((int64_t)llround(g->gpu_hours)).text);
    pace_chart_curve(chart, text);
    pace_chart_point(chart, 0, (g->judged_gpu_hours - g->idle_gpu_hours) / whole);
    pace_chart_point(chart, 1, g->idle_gpu_hours / whole);
    pace_chart_point(chart, 2, (g->gpu_hours - g->judged_gpu_hours) / whole);
}

static void draw_by(pace_node *section, const pace_usage_asked *a, pace_usage_by by, const char *title) {
    const pace_usage_groups *groups = &a->figures.by[by];
    if (groups->count == 0 || !(groups->items[0].gpu_hours > 0)) return;
    if (by != PACE_BY_SIZE && groups->count == 1 && !groups->items[0].name) return;
    pace_node *chart = pace_node_stacks(section, title, parts, 3);
    for (size_t i = 0; i < groups->count && i < BARS; i++)
        if (groups->items[i].gpu_hours > 0)
            draw_bar(chart, pace_usage_group_name(&a->usage, by, &groups->items[i]), &groups->items[i],
                     groups->items[0].gpu_hours);
}

void pace_put_usage_charts(pace_node *root, const pace_usage_asked *asked) {
    pace_node *section = pace_node_object(root, "pictures", "Where GPU-hours go", PACE_FOR_PEOPLE);
    draw_by(section, asked, PACE_BY_USER, "GPU-hours by user");
    draw_by(section, asked, PACE_BY_QUEUE, "GPU-hours by queue");
    draw_by(section, asked, PACE_BY_TYPE, "GPU-hours by type of work");
    draw_by(section, asked, PACE_BY_STATE, "GPU-hours by state");
    draw_by(section, asked, PACE_BY_GPU, "GPU-hours by GPU");
    draw_by(section, asked, PACE_BY_SIZE, "GPU-hours by GPUs of a run");
}
