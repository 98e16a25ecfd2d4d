/* A cluster's GPU-hours drawn: what they were used for, by user, queue, type, state, GPU and size. */
#include "report/show.h"
#include "report/fleet/fleet_parts.h"

#include <math.h>

enum { BARS = 12 };

/* Where counters saw a part that can be seen, bars show what was idle, else how runs ended. */
enum { LEAST_PARTS = 20 };

static const char *const by_counters[] = {"busy, by counters", "idle, by counters", "without counters"};
static const char *const by_ends[] = {"other ends", "failed, timed out, preempted, node lost"};

typedef struct {
    pace_node *section;
    const pace_usage_asked *asked;
    bool judged;
} picture;

static void draw_bar(const picture *p, pace_node *chart, const char *name, const pace_usage_group *g) {
    double whole = p->asked->figures.all.gpu_hours;
    pace_chart_curve(chart, PACE_CURVE_LINE, "%.40s, %s h", name, pace_show_int((int64_t)llround(g->gpu_hours)).text);
    if (p->judged) {
        pace_chart_point(chart, 0, (g->judged_gpu_hours - g->idle_gpu_hours) / whole);
        pace_chart_point(chart, 1, g->idle_gpu_hours / whole);
        pace_chart_point(chart, 2, (g->gpu_hours - g->judged_gpu_hours) / whole);
    } else {
        pace_chart_point(chart, 0, (g->gpu_hours - g->lost_gpu_hours) / whole);
        pace_chart_point(chart, 1, g->lost_gpu_hours / whole);
    }
}

static void draw_by(const picture *p, pace_usage_by by, const char *title) {
    const pace_usage_groups *groups = &p->asked->figures.by[by];
    if (groups->count == 0 || !(groups->items[0].gpu_hours > 0)) return;
    if (by != PACE_BY_SIZE && groups->count == 1 && !groups->items[0].name) return;
    pace_node *chart = pace_node_stacks(p->section, title, p->judged ? by_counters : by_ends, p->judged ? 3 : 2);
    for (size_t i = 0; i < groups->count && i < BARS; i++)
        if (groups->items[i].gpu_hours > 0) draw_bar(p, chart, groups->items[i].text, &groups->items[i]);
}

void pace_put_usage_charts(pace_node *root, const pace_usage_asked *asked) {
    picture p = {pace_node_object(root, "pictures", "Where GPU-hours go, of all", PACE_FOR_PEOPLE), asked,
                 asked->figures.all.judged_gpu_hours * LEAST_PARTS > asked->figures.all.gpu_hours};
    draw_by(&p, PACE_BY_USER, "GPU-hours by user");
    draw_by(&p, PACE_BY_QUEUE, "GPU-hours by queue");
    draw_by(&p, PACE_BY_TYPE, "GPU-hours by type of work");
    draw_by(&p, PACE_BY_STATE, "GPU-hours by state");
    draw_by(&p, PACE_BY_GPU, "GPU-hours by GPU");
    draw_by(&p, PACE_BY_SIZE, "GPU-hours by GPUs of a run");
}
