/* Writes a timeline into a page: its lanes as a plain picture for readers without a script, and all of it as data. */
#include "base/base64.h"
#include "report/render/html_text.h"
#include "report/show.h"
#include "report/render/timeline_data.h"

#include <string.h>

enum { ROW = 22, BAR = 18, WIDTH = PACE_OVERVIEW_PARTS };

/* --- the picture -------------------------------------------------------------------------------------------------- */

/* The class that takes most of a part of a lane; PACE_CLASS_COUNT = nothing happens in it. */
static pace_class prevailing(const pace_packed_lane *lane, int part) {
    const int64_t *ns = lane->overview_ns + part * PACE_CLASS_COUNT;
    int64_t most = 0;
    pace_class best = PACE_CLASS_COUNT;
    for (int c = 0; c < PACE_CLASS_COUNT; c++)
        if (ns[c] > most) most = ns[c], best = (pace_class)c;
    return best;
}

static void write_picture_lane(pace_sink *sink, const pace_packed_lane *lane, int row) {
    for (int part = 0; part < WIDTH;) {
        pace_class color = prevailing(lane, part);
        int from = part;
        while (part < WIDTH && prevailing(lane, part) == color) part++;
        if (color == PACE_CLASS_COUNT) continue;
        pace_sink_format(sink, "<rect class=\"c-%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                         pace_class_name(color), from, row * ROW, part - from, BAR);
    }
}

/* The first open group, else the first. */
static const pace_packed_group *pictured(const pace_timeline *timeline) {
    for (size_t g = 0; g < timeline->groups.count; g++)
        if (timeline->groups.items[g].open) return &timeline->groups.items[g];
    return timeline->groups.count ? timeline->groups.items : NULL;
}

/* Summaries, then streams, then threads, as the script shows them. */
typedef void (*lane_fn)(pace_sink *sink, const pace_packed_lane *lane, int row);

static void each_lane(pace_sink *sink, const pace_packed_group *group, lane_fn write) {
    int row = 0;
    for (int kind = PACE_LANE_SUMMARY; kind <= PACE_LANE_THREAD; kind++)
        for (size_t i = 0; i < group->lanes.count; i++)
            if ((int)group->lanes.items[i].kind == kind) write(sink, &group->lanes.items[i], row++);
}

static void write_lane_name(pace_sink *sink, const pace_packed_lane *lane, int row) {
    (void)row;
    pace_html_format(sink, "<div>%s</div>", lane->name);
}

static void write_legend(pace_sink *sink, const pace_packed_group *group) {
    bool used[PACE_CLASS_COUNT] = {false};
    for (size_t i = 0; i < group->lanes.count; i++)
        for (int part = 0; part < WIDTH; part++) {
            pace_class color = prevailing(&group->lanes.items[i], part);
            if (color < PACE_CLASS_COUNT) used[color] = true;
        }
    pace_sink_text(sink, "<ul class=\"legend\">");
    for (int c = 0; c < PACE_CLASS_COUNT; c++)
        if (used[c])
            pace_sink_format(sink, "<li class=\"c-%s\"><i></i>%s</li>", pace_class_name((pace_class)c),
                             c == PACE_CLASS_PATH   ? "critical path"
                             : c == PACE_CLASS_WAIT ? "waiting"
                                                    : pace_class_name((pace_class)c));
    pace_sink_text(sink, "</ul>");
}

static void write_picture(pace_sink *sink, const pace_timeline *timeline) {
    const pace_packed_group *group = pictured(timeline);
    if (!group) return;
    pace_sink_text(sink, "<noscript>");
    write_legend(sink, group);
    pace_sink_text(sink, "<div class=\"plain-lanes\"><div class=\"names\">");
    each_lane(sink, group, write_lane_name);
    pace_sink_format(sink,
                     "</div><svg viewBox=\"0 0 %d %zu\" height=\"%zu\" preserveAspectRatio=\"none\" role=\"img\">\n",
                     WIDTH, group->lanes.count * ROW, group->lanes.count * ROW);
    each_lane(sink, group, write_picture_lane);
    pace_sink_format(sink,
                     "</svg></div><p class=\"note\">%s in %d parts, each in the colour of what takes most of it. The "
                     "page's script draws every slice.</p></noscript>\n",
                     pace_show_ns(timeline->to_ns - timeline->from_ns).text, WIDTH);
}

/* --- the data ----------------------------------------------------------------------------------------------------- */

static void write_names(pace_jsonw *json, const char *key, const pace_names *names) {
    pace_jsonw_key_array(json, key);
    for (pace_name name = 0; name < pace_names_count(names); name++)
        pace_jsonw_text(json, pace_names_text(names, name));
    pace_jsonw_array_end(json);
}

/* Label 0 is none: the list begins with an empty one. */
static void write_labels(pace_jsonw *json, const pace_names *labels) {
    pace_jsonw_key_array(json, "labels");
    for (pace_name number = 0; number < pace_names_count(labels); number++) {
        pace_slice_label label = {0};
        if (number) memcpy(&label, pace_names_text(labels, number), sizeof label);
        pace_jsonw_array(json);
        pace_jsonw_int(json, label.name);
        pace_jsonw_int(json, label.color);
        pace_jsonw_int(json, label.kind);
        pace_jsonw_int(json, label.stage);
        pace_jsonw_array_end(json);
    }
    pace_jsonw_array_end(json);
}

static void write_name(pace_jsonw *json, const char *key, pace_name name) {
    if (name) pace_jsonw_key_int(json, key, name);
}

static void write_detail(pace_jsonw *json, const pace_packed_detail *detail) {
    pace_jsonw_object(json);
    write_name(json, "shapes", detail->shapes);
    write_name(json, "launch", detail->launch);
    write_name(json, "module", detail->module);
    write_name(json, "collective", detail->collective);
    write_name(json, "dtype", detail->dtype);
    write_name(json, "group", detail->group);
    if (detail->group_size) pace_jsonw_key_int(json, "group_size", detail->group_size);
    if (detail->flop > 0) pace_jsonw_key_real(json, "flop", detail->flop);
    if (detail->bytes > 0) pace_jsonw_key_real(json, "bytes", detail->bytes);
    pace_jsonw_object_end(json);
}

static void write_details(pace_jsonw *json, const pace_timeline *timeline) {
    pace_jsonw_key_array(json, "details");
    pace_jsonw_null(json);
    for (pace_name number = 1; number < pace_names_count(&timeline->details); number++) {
        pace_packed_detail detail;
        memcpy(&detail, pace_names_text(&timeline->details, number), sizeof detail);
        write_detail(json, &detail);
    }
    pace_jsonw_array_end(json);
}

static void write_column(pace_jsonw *json, const char *key, const pace_packed *column) {
    pace_jsonw_key(json, key);
    pace_jsonw_raw(json, "\"", 1);
    pace_base64_write(json->sink, column->items, column->count);
    pace_sink_text(json->sink, "\"");
}

static void write_lane(pace_jsonw *json, const pace_packed_lane *lane) {
    static const char *const kinds[] = {"summary", "stream", "thread"};
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "name", lane->name);
    pace_jsonw_key_text(json, "kind", kinds[lane->kind]);
    pace_jsonw_key_int(json, "count", (int64_t)lane->count);
    write_column(json, "starts", &lane->starts);
    write_column(json, "durations", &lane->durations);
    write_column(json, "labels", &lane->labels);
    if (lane->merged) write_column(json, "counts", &lane->counts);
    if (lane->caused) write_column(json, "causes", &lane->causes);
    if (lane->detailed) write_column(json, "details", &lane->details);
    pace_jsonw_object_end(json);
}

static void write_groups(pace_jsonw *json, const pace_timeline *timeline) {
    pace_jsonw_key_array(json, "groups");
    PACE_ITEMS (const pace_packed_group, group, &timeline->groups) {
        pace_jsonw_object(json);
        pace_jsonw_key_text(json, "name", group->name);
        pace_jsonw_key(json, "open");
        pace_jsonw_bool(json, group->open);
        pace_jsonw_key_array(json, "lanes");
        for (size_t i = 0; i < group->lanes.count; i++) write_lane(json, &group->lanes.items[i]);
        pace_jsonw_array_end(json);
        pace_jsonw_object_end(json);
    }
    pace_jsonw_array_end(json);
}

static void write_classes(pace_jsonw *json) {
    const char *classes[PACE_CLASS_COUNT];
    for (int i = 0; i < PACE_CLASS_COUNT; i++) classes[i] = pace_class_name((pace_class)i);
    pace_jsonw_texts(json, "classes", classes, PACE_CLASS_COUNT);
}

static void write_data(pace_sink *sink, const pace_timeline *timeline, unsigned number) {
    static const char *const kinds[PACE_SLICE_KINDS] = {"operator",       "annotation", "Python frame", "runtime call",
                                                        "kernel",         "copy",       "memory set",   "wait",
                                                        "something else", "step",       "stage",        "device time",
                                                        "critical path",  "work"};
    pace_jsonw json;
    pace_sink_format(sink, "<script type=\"application/json\" id=\"timeline-data-%u\">", number);
    pace_jsonw_init(&json, sink, 0);
    pace_jsonw_object(&json);
    pace_jsonw_key_int(&json, "span_ns", timeline->to_ns - timeline->from_ns);
    pace_jsonw_texts(&json, "kinds", kinds, PACE_SLICE_KINDS);
    write_classes(&json);
    write_names(&json, "names", &timeline->names);
    write_labels(&json, &timeline->labels);
    write_details(&json, timeline);
    write_groups(&json, timeline);
    pace_jsonw_object_end(&json);
    pace_sink_text(sink, "</script>\n");
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static void write_notes(pace_sink *sink, const pace_timeline *timeline) {
    for (size_t i = 0; i < timeline->notes.count; i++)
        pace_html_format(sink, "<p class=\"note\">%s</p>\n", timeline->notes.items[i]);
}

static void write_timeline(pace_sink *sink, const pace_timeline *timeline, unsigned number) {
    pace_sink_format(sink, "<div class=\"timeline\" data-of=\"timeline-data-%u\"></div>\n", number);
    write_picture(sink, timeline);
    write_notes(sink, timeline);
    write_data(sink, timeline, number);
}

pace_status pace_render_timeline(pace_sink *sink, const pace_held_timeline *held, unsigned number) {
    pace_timeline timeline;
    PACE_TRY(pace_timeline_open(&timeline, held->from_ns, held->to_ns));
    pace_status status = held->draw(held->by.context, &timeline);
    if (status == PACE_OK) status = timeline.status;
    if (status == PACE_OK) write_timeline(sink, &timeline, number);
    pace_timeline_close(&timeline);
    return status;
}
