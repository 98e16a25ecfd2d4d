/*
 * A report's tables, by path: the keys of JSON joined by dots, items of lists by number ("step_matrices.0.matrix").
 */
#include "report/report_node.h"
#include "base/print.h"

#include <stdio.h>
#include <string.h>

/* Told of a node that has a key and stands in JSON, and of its path; false ends the walk. */
typedef bool (*node_fn)(void *context, const char *path, const pace_node *node);

typedef struct {
    node_fn visit;
    void *context;
    char path[1024];
} walk;

/* Appends a key to the path; returns the length to cut it back to. */
static size_t enter(walk *w, const char *key) {
    size_t length = strlen(w->path);
    pace_list(w->path, sizeof w->path, ".", "%s", key);
    return length;
}

static bool walk_members(walk *w, const pace_node *object);

static bool walk_items(walk *w, const pace_node *list) {
    size_t index = 0;
    bool goes_on = true;
    for (const pace_node *item = list->first; item && goes_on; item = item->next) {
        char number[24];
        snprintf(number, sizeof number, "%zu", index++);
        size_t length = enter(w, number);
        goes_on = walk_members(w, item);
        w->path[length] = '\0';
    }
    return goes_on;
}

static bool walk_node(walk *w, const pace_node *node) {
    size_t length = enter(w, node->key);
    bool goes_on = w->visit(w->context, w->path, node);
    if (goes_on && node->kind == PACE_NODE_OBJECT) goes_on = walk_members(w, node);
    if (goes_on && node->kind == PACE_NODE_LIST) goes_on = walk_items(w, node);
    w->path[length] = '\0';
    return goes_on;
}

/* The members of an object without a key stand in the object around it. */
static bool walk_members(walk *w, const pace_node *object) {
    bool goes_on = true;
    for (const pace_node *node = object->first; node && goes_on; node = node->next) {
        if (node->audience == PACE_FOR_PEOPLE) continue;
        if (node->key) goes_on = walk_node(w, node);
        else if (node->kind == PACE_NODE_OBJECT) goes_on = walk_members(w, node);
    }
    return goes_on;
}

/* Parents first. Paths past 1,023 bytes are cut. */
static void walk_report(const pace_report *report, node_fn visit, void *context) {
    walk w = {.visit = visit, .context = context};
    walk_members(&w, report->root);
}

static bool is_tabular(const pace_node *node) {
    return node->kind == PACE_NODE_TABLE || node->kind == PACE_NODE_MATRIX;
}

typedef struct {
    const char *wanted;
    const pace_node *by_path, *by_key; /* `by_key` = the first whose last key is the one that is wanted */
    size_t same_key;
} table_search;

static bool match_table(void *context, const char *path, const pace_node *node) {
    table_search *search = context;
    if (!is_tabular(node)) return true;
    if (strcmp(path, search->wanted) == 0) search->by_path = node;
    if (strcmp(node->key, search->wanted) == 0 && search->same_key++ == 0) search->by_key = node;
    return !search->by_path;
}

static const pace_node *find_named(const pace_report *report, const char *key) {
    table_search search = {.wanted = key};
    walk_report(report, match_table, &search);
    return search.by_path ? search.by_path : search.same_key == 1 ? search.by_key : NULL;
}

/* The first table, or the first matrix when there is no table; one for people alone will do. */
static const pace_node *find_main(const pace_report *report) {
    const pace_node *matrix = NULL;
    for (const pace_node *node = report->root; node; node = pace_node_after(report->root, node)) {
        if (node->kind == PACE_NODE_TABLE) return node;
        if (node->kind == PACE_NODE_MATRIX && !matrix) matrix = node;
    }
    return matrix;
}

typedef struct {
    char text[2048];
    size_t used;
} path_list;

/* Lists of several items hold the same tables in each: "step_matrices.N.matrix" stands for all. */
static void list_paths(path_list *list, const char *prefix, const pace_node *object) {
    for (const pace_node *node = object->first; node; node = node->next) {
        char path[256];
        if (node->audience == PACE_FOR_PEOPLE) continue;
        snprintf(path, sizeof path, "%s%s%s", prefix, node->key && *prefix ? "." : "", node->key ? node->key : "");
        if (is_tabular(node) && node->key && list->used < sizeof list->text) {
            int wrote =
                snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s", list->used ? ", " : "", path);
            list->used += wrote > 0 ? (size_t)wrote : 0;
        } else if (node->kind == PACE_NODE_OBJECT) {
            list_paths(list, path, node);
        } else if (node->kind == PACE_NODE_LIST && node->first) {
            strncat(path, node->first->next ? ".N" : ".0", sizeof path - strlen(path) - 1);
            list_paths(list, path, node->first);
        }
    }
}

static pace_status fail_unknown(const pace_report *report, const char *key) {
    path_list list = {0};
    list_paths(&list, "", report->root);
    return pace_fail(PACE_E_USAGE, "no table \"%.200s\" in this report; it has: %s", key,
                     list.used ? list.text : "none");
}

pace_status pace_report_find_table(const pace_node **out, const pace_report *report, const char *key) {
    const pace_node *node = key ? find_named(report, key) : find_main(report);
    if (!node && key) return fail_unknown(report, key);
    if (!node) return pace_fail(PACE_E_USAGE, "this report has no table");
    *out = node;
    return PACE_OK;
}
