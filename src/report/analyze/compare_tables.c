/* Tables of the compare report whose rows stand for both sides: exchanges, fused operators, call paths. */
#include "base/print.h"
#include "insight/compare/call_tree.h"
#include "insight/compare/exchange_pairs.h"
#include "insight/compare/fused_pairs.h"
#include "report/analyze/compare_parts.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    pace_exchange_pair of;
    int64_t ranks, a_ns, b_ns, change_ns, a_waiting_ns, b_waiting_ns;
    double bytes;
} exchange_row;

PACE_TABLE_IF_ROWS(exchanges, "exchanges", "Collectives per step, largest change first", PACE_FOR_ALL, 12,
                   {"collective", "collective", PACE_SHOW_TEXT, PACE_OF(exchange_row, of.collective)},
                   {"group", NULL, PACE_SHOW_TEXT, PACE_OF(exchange_row, of.group)},
                   {"ranks", "ranks", PACE_SHOW_INT, PACE_OF(exchange_row, ranks)},
                   {"bytes", "bytes", PACE_SHOW_BYTES, PACE_OF(exchange_row, bytes)},
                   {"dtype", NULL, PACE_SHOW_TEXT, PACE_OF(exchange_row, of.dtype)},
                   {"a_calls", "A calls", PACE_SHOW_REAL, PACE_OF(exchange_row, of.a.calls)},
                   {"b_calls", "B calls", PACE_SHOW_REAL, PACE_OF(exchange_row, of.b.calls)},
                   {"a_ns", "A time", PACE_SHOW_NS, PACE_OF(exchange_row, a_ns)},
                   {"b_ns", "B time", PACE_SHOW_NS, PACE_OF(exchange_row, b_ns)},
                   {"change_ns", "B - A", PACE_SHOW_NS, PACE_OF(exchange_row, change_ns)},
                   {"a_waiting_ns", NULL, PACE_SHOW_NS, PACE_OF(exchange_row, a_waiting_ns)},
                   {"b_waiting_ns", "B waiting", PACE_SHOW_NS, PACE_OF(exchange_row, b_waiting_ns)},
                   {"a_busbw_bytes_per_s", "A busbw", PACE_SHOW_RATE, PACE_OF(exchange_row, of.a.busbw_per_s)},
                   {"b_busbw_bytes_per_s", "B busbw", PACE_SHOW_RATE, PACE_OF(exchange_row, of.b.busbw_per_s)});

static int64_t known_ns(double ns) { return isnan(ns) ? PACE_NO_INT : llround(ns); }

pace_status pace_put_exchange_pairs(pace_node *root, const pace_step_change *change, pace_catalog *catalog) {
    pace_exchange_pairs pairs;
    PACE_TRY(pace_exchange_pairs_of(&pairs, change, catalog));
    pace_node *table = pace_open_table(root, &exchanges, 0);
    PACE_ITEMS (const pace_exchange_pair, p, &pairs) {
        int64_t a_ns = llround(p->a.time_ns), b_ns = llround(p->b.time_ns);
        pace_table_put(table, &(exchange_row){.of = *p,
                                              .ranks = p->group_size ? p->group_size : PACE_NO_INT,
                                              .bytes = p->bytes >= 0 ? (double)p->bytes : NAN,
                                              .a_ns = a_ns,
                                              .b_ns = b_ns,
                                              .change_ns = b_ns - a_ns,
                                              .a_waiting_ns = known_ns(p->a.waiting_ns),
                                              .b_waiting_ns = known_ns(p->b.waiting_ns)});
    }
    PACE_VEC_FREE(&pairs);
    return PACE_OK;
}

typedef struct {
    const char *match, *operators, *kernels, *modules;
    int64_t a_ns, b_ns, change_ns;
} fused_row;

PACE_TABLE_IF_ROWS(fused, "fused", "Operators and the fused kernels they became, per step, largest change first",
                   PACE_FOR_ALL, 12, {"operators", "operators", PACE_SHOW_TEXT, PACE_OF(fused_row, operators)},
                   {"kernels", "kernels", PACE_SHOW_TEXT, PACE_OF(fused_row, kernels)},
                   {"modules", NULL, PACE_SHOW_TEXT, PACE_OF(fused_row, modules)},
                   {"match", "matched", PACE_SHOW_TEXT, PACE_OF(fused_row, match)},
                   {"a_ns", "A", PACE_SHOW_NS, PACE_OF(fused_row, a_ns)},
                   {"b_ns", "B", PACE_SHOW_NS, PACE_OF(fused_row, b_ns)},
                   {"change_ns", "B - A", PACE_SHOW_NS, PACE_OF(fused_row, change_ns)});

static void put_matched(pace_node *root, const pace_fused_pairs *pairs) {
    double eager_ns = pairs->by_name_ns + pairs->by_fusion_ns + pairs->unmatched_ns;
    pace_node *node = pace_node_object(root, "fusion", NULL, PACE_FOR_JSON);
    pace_node_text(node, "compiled", pairs->compiled_is_b ? "b" : "a");
    pace_node_real(node, "by_name_share", eager_ns > 0 ? pairs->by_name_ns / eager_ns : NAN);
    pace_node_real(node, "by_fusion_share", eager_ns > 0 ? pairs->by_fusion_ns / eager_ns : NAN);
    pace_node_real(node, "unmatched_share", eager_ns > 0 ? pairs->unmatched_ns / eager_ns : NAN);
    pace_node_int(node, "compiled_unmatched_ns", llround(pairs->left_ns));
    if (eager_ns > 0)
        pace_node_sentence(
            root, false,
            "%s was compiled. Of the device time of %s, %.0f %% match the other's by operator and %.0f %% by "
            "the names of fused kernels; %.0f %% match nothing.",
            pairs->compiled_is_b ? "B" : "A", pairs->compiled_is_b ? "A" : "B", 100 * pairs->by_name_ns / eager_ns,
            100 * pairs->by_fusion_ns / eager_ns, 100 * pairs->unmatched_ns / eager_ns);
}

pace_status pace_put_fused_pairs(pace_node *root, const pace_step_change *change) {
    pace_fused_pairs pairs;
    PACE_TRY(pace_fused_pairs_of(&pairs, change));
    if (pairs.found) put_matched(root, &pairs);
    pace_node *table = pace_open_table(root, &fused, 0);
    PACE_ITEMS (const pace_fused_row, row, &pairs.rows) {
        int64_t a_ns = llround(row->a_ns), b_ns = llround(row->b_ns);
        pace_table_put(table, &(fused_row){pace_fused_kind_names[row->kind], row->operators, row->kernels, row->modules,
                                           a_ns, b_ns, b_ns - a_ns});
    }
    pace_fused_pairs_free(&pairs);
    return PACE_OK;
}

typedef struct {
    const char *name, *path;
    int64_t depth, a_ns, b_ns, change_ns;
} path_row;

PACE_TABLE(paths, "call_paths", "Modules and operators by call path, per step, largest change first", PACE_FOR_ALL, 25,
           {"name", "module or operator", PACE_SHOW_TEXT, PACE_OF(path_row, name)},
           {"path", NULL, PACE_SHOW_TEXT, PACE_OF(path_row, path)},
           {"depth", NULL, PACE_SHOW_INT, PACE_OF(path_row, depth)},
           {"a_ns", "A", PACE_SHOW_NS, PACE_OF(path_row, a_ns)}, {"b_ns", "B", PACE_SHOW_NS, PACE_OF(path_row, b_ns)},
           {"change_ns", "B - A", PACE_SHOW_NS, PACE_OF(path_row, change_ns)});

/* Nodes of so small a share of the step that nobody looks for them. */
static bool is_small(const pace_call_node *node, double step_ns) {
    return fmax(node->a_ns, node->b_ns) < 1e-3 * step_ns && fabs(node->b_ns - node->a_ns) < 1e-4 * step_ns;
}

static void write_path(char *out, size_t size, const pace_call_tree *tree, uint32_t node) {
    const pace_call_node *at = &tree->nodes.items[node];
    if (at->parent) write_path(out, size, tree, at->parent);
    size_t used = at->parent ? strlen(out) : 0;
    pace_snprintf(out + used, size - used, "%s%s", used ? " > " : "", pace_names_text(&tree->names, at->name));
}

pace_status pace_put_call_tree(pace_node *root, const pace_step_change *change) {
    pace_call_tree tree;
    PACE_TRY(pace_call_tree_compare(&tree, change));
    pace_node *table = pace_open_table(root, &paths, 0);
    double step_ns = fmax((double)pace_typical_ns(&change->a), (double)pace_typical_ns(&change->b));
    size_t small = 0;
    for (uint32_t i = 1; i < tree.nodes.count; i++) {
        const pace_call_node *node = &tree.nodes.items[i];
        char path[2048] = "", name[160];
        small += is_small(node, step_ns);
        if (is_small(node, step_ns)) continue;
        int indent = node->depth < 24 ? (int)node->depth - 1 : 23;
        write_path(path, sizeof path, &tree, i);
        pace_snprintf(name, sizeof name, "%*s%.120s", 2 * indent, "", pace_names_text(&tree.names, node->name));
        int64_t a_ns = llround(node->a_ns), b_ns = llround(node->b_ns);
        pace_table_put(table, &(path_row){name, path, node->depth, a_ns, b_ns, b_ns - a_ns});
    }
    if (small) pace_node_note(root, "%zu call paths of less than a thousandth of the step are left out.", small);
    pace_call_tree_free(&tree);
    return PACE_OK;
}
