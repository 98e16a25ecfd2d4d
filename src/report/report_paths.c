/*
 * A report's tables, by path: the keys of JSON joined by dots, items of lists by number ("step_matrices.0.matrix").
 */
#include "report/report_node.h"
#include "base/print.h"

#include <stdio.h>
#include <string.h>

static bool is_tabular(const pace_node *node) {
    return node->kind == PACE_NODE_TABLE || node->kind == PACE_NODE_MATRIX;
}

typedef struct {
    const char *wanted;
    const pace_node *by_path, *by_key; /* `by_key` = the first whose last key is the one that is wanted */
    size_t same_key;
    char list[2048]; /* the paths of all tables */
} table_search;

static void meet_table(table_search *search, const pace_node *node, const char *path, const char *listed) {
    if (!search->by_path && strcmp(path, search->wanted) == 0) search->by_path = node;
    if (strcmp(node->key, search->wanted) == 0 && search->same_key++ == 0) search->by_key = node;
    if (*listed) pace_list(search->list, sizeof search->list, ", ", "%s", listed);
}

/* The members of an object without a key stand in the object around it. Lists of several items hold the same tables in
 * each: "step_matrices.N.matrix" is listed for all. `listed` is the path as listed, "" where it is not. */
static void search_members(table_search *search, const pace_node *object, const char *path, const char *listed) {
    for (const pace_node *node = object->first; node; node = node->next) {
        char own[1024], own_listed[256];
        size_t index = 0;
        if (node->audience == PACE_FOR_PEOPLE) continue;
        const char *dot = node->key && *path ? "." : "", *key = node->key ? node->key : "";
        snprintf(own, sizeof own, "%s%s%s", path, dot, key);
        snprintf(own_listed, sizeof own_listed, "%s%s%s", listed, *listed ? dot : "", *listed || !*path ? key : "");
        if (is_tabular(node) && node->key) meet_table(search, node, own, own_listed);
        if (node->kind == PACE_NODE_OBJECT) search_members(search, node, own, own_listed);
        for (const pace_node *item = node->kind == PACE_NODE_LIST ? node->first : NULL; item; item = item->next) {
            char at[1048], at_listed[260];
            snprintf(at, sizeof at, "%s.%zu", own, index);
            snprintf(at_listed, sizeof at_listed, "%s%s", own_listed, node->first->next ? ".N" : ".0");
            search_members(search, item, at, index++ == 0 && *own_listed ? at_listed : "");
        }
    }
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

pace_status pace_report_find_table(const pace_node **out, const pace_report *report, const char *key) {
    table_search search = {.wanted = key};
    if (key) search_members(&search, report->root, "", "");
    const pace_node *by_key = search.same_key == 1 ? search.by_key : NULL;
    const pace_node *found = !key ? find_main(report) : search.by_path ? search.by_path : by_key;
    if (found) *out = found;
    if (found) return PACE_OK;
    if (!key) return pace_fail(PACE_E_USAGE, "this report has no table");
    return pace_fail(PACE_E_USAGE, "no table \"%.200s\" in this report; it has: %s", key,
                     *search.list ? search.list : "none");
}
