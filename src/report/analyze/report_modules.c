/* Device time by module, as a tree and by class; frames of Python by self time. */
#include "report/analyze/analyze_parts.h"
#include "insight/tables/module_tree.h"
#include "insight/tables/python_frames.h"

typedef struct {
    const char *name, *path, *sort;
    int64_t depth;
    size_t instances, calls;
    int64_t time_ns, forward_ns, backward_ns, other_ns, own_ns, host_ns;
    double share;
} module_row;

PACE_TABLE_IF_ROWS(tree_table, "module_tree", "Device time by module, as a tree", PACE_FOR_ALL, 20,
                   {"name", "module or annotation", PACE_SHOW_TEXT, PACE_OF(module_row, name)},
                   {"path", NULL, PACE_SHOW_TEXT, PACE_OF(module_row, path)},
                   {"kind", NULL, PACE_SHOW_TEXT, PACE_OF(module_row, sort)},
                   {"depth", NULL, PACE_SHOW_INT, PACE_OF(module_row, depth)},
                   {"instances", "alike", PACE_SHOW_INT, PACE_OF(module_row, instances)},
                   {"calls", "calls", PACE_SHOW_INT, PACE_OF(module_row, calls)},
                   {"time_ns", "time", PACE_SHOW_NS, PACE_OF(module_row, time_ns)},
                   {"share", "share", PACE_SHOW_SHARE, PACE_OF(module_row, share)},
                   {"forward_ns", "forward", PACE_SHOW_NS, PACE_OF(module_row, forward_ns)},
                   {"backward_ns", "backward", PACE_SHOW_NS, PACE_OF(module_row, backward_ns)},
                   {"other_ns", NULL, PACE_SHOW_NS, PACE_OF(module_row, other_ns)},
                   {"own_ns", "itself", PACE_SHOW_NS, PACE_OF(module_row, own_ns)},
                   {"host_ns", NULL, PACE_SHOW_NS, PACE_OF(module_row, host_ns)});

PACE_TABLE_IF_ROWS(class_table, "module_classes", "Device time by class of module", PACE_FOR_ALL, 10,
                   {"name", "class", PACE_SHOW_TEXT, PACE_OF(module_row, name)},
                   {"instances", "modules", PACE_SHOW_INT, PACE_OF(module_row, instances)},
                   {"calls", "calls", PACE_SHOW_INT, PACE_OF(module_row, calls)},
                   {"time_ns", "time", PACE_SHOW_NS, PACE_OF(module_row, time_ns)},
                   {"share", "share", PACE_SHOW_SHARE, PACE_OF(module_row, share)},
                   {"forward_ns", "forward", PACE_SHOW_NS, PACE_OF(module_row, forward_ns)},
                   {"backward_ns", "backward", PACE_SHOW_NS, PACE_OF(module_row, backward_ns)},
                   {"other_ns", NULL, PACE_SHOW_NS, PACE_OF(module_row, other_ns)},
                   {"own_ns", "itself", PACE_SHOW_NS, PACE_OF(module_row, own_ns)});

static module_row row_of(const char *name, size_t instances, size_t calls, const pace_module_time *all,
                         const pace_module_time *own, int64_t total_ns) {
    int64_t time_ns = pace_module_time_sum(all);
    return (module_row){.name = name,
                        .instances = instances,
                        .calls = calls,
                        .time_ns = time_ns,
                        .share = total_ns > 0 ? (double)time_ns / (double)total_ns : 0,
                        .forward_ns = all->forward_ns,
                        .backward_ns = all->backward_ns,
                        .other_ns = all->other_ns,
                        .own_ns = pace_module_time_sum(own)};
}

/* The path of the node before, cut to the depth of this one's parent; nodes come depth first. */
typedef struct {
    char text[4096];
    size_t length[64]; /* of the path at each depth */
} path;

static void enter(path *p, uint32_t depth, const char *name) {
    size_t level = depth < 64 ? depth : 63, used = level > 1 ? p->length[level - 1] : 0;
    int more = pace_snprintf(p->text + used, sizeof p->text - used, "%s%s", used ? " > " : "", name);
    p->length[level] = used + (size_t)more < sizeof p->text ? used + (size_t)more : sizeof p->text - 1;
}

static void put_tree(pace_node *root, const pace_module_tree *tree, const pace_work_shown *shown) {
    if (tree->nodes.count <= 1) return;
    path at = {0};
    pace_node *table = pace_work_table(root, &tree_table, 0, shown);
    for (size_t i = 1; i < tree->nodes.count; i++) {
        const pace_module_node *node = &tree->nodes.items[i];
        const char *text = pace_names_text(&tree->names, node->name);
        char name[160];
        enter(&at, node->depth, text);
        pace_snprintf(name, sizeof name, "%*s%.110s", 2 * (int)(node->depth < 24 ? node->depth - 1 : 23), "", text);
        module_row row = row_of(name, node->instances, node->calls, &node->all, &node->own, shown->total_ns);
        row.path = at.text;
        row.sort = node->module ? "module" : "annotation";
        row.depth = node->depth;
        row.host_ns = node->host_ns;
        pace_table_put(table, &row);
    }
    pace_node_note(root,
                   "Modules of one class below the same parent are one row ('alike' of them); 'itself': work that no "
                   "module within launched. Backward work stands with the module of its forward operator.");
}

static void put_classes(pace_node *root, const pace_module_tree *tree, const pace_work_shown *shown) {
    pace_node *table = pace_work_table(root, &class_table, 0, shown);
    PACE_ITEMS (const pace_module_class, c, &tree->classes) {
        module_row row =
            row_of(pace_names_text(&tree->names, c->name), c->instances, c->calls, &c->all, &c->own, shown->total_ns);
        pace_table_put(table, &row);
    }
}

typedef struct {
    const char *name;
    pace_python_row of;
    int64_t self_ns;
} frame_row;

PACE_TABLE_IF_ROWS(frame_table, "python_frames", "Python functions by the time of their own lines", PACE_FOR_ALL, 10,
                   {"name", "function", PACE_SHOW_TEXT, PACE_OF(frame_row, name)},
                   {"calls", "calls", PACE_SHOW_INT, PACE_OF(frame_row, of.calls)},
                   {"self_ns", "itself", PACE_SHOW_NS, PACE_OF(frame_row, self_ns)},
                   {"operators_ns", "in operators", PACE_SHOW_NS, PACE_OF(frame_row, of.operators_ns)},
                   {"all_ns", "in all", PACE_SHOW_NS, PACE_OF(frame_row, of.all_ns)},
                   {"device_ns", "device", PACE_SHOW_NS, PACE_OF(frame_row, of.device_ns)});

static pace_status put_frames(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) {
    pace_python_frames frames;
    PACE_TRY(pace_python_frames_sum(&frames, rank, &shown->work, shown->host_from_ns, shown->host_to_ns));
    pace_node *table = pace_open_table(root, &frame_table, 0);
    PACE_ITEMS (const pace_python_row, from, &frames.rows) {
        pace_table_put(table, &(frame_row){pace_names_text(&frames.names, from->name), *from,
                                           from->self_ns > 0 ? from->self_ns : 0});
    }
    if (frames.rows.count)
        pace_node_note(root,
                       "'itself': on the host, in no function and operator that it calls; 'in operators': in those it "
                       "calls itself; 'in all': from begin to end; 'device': work that its own lines launched.");
    pace_python_frames_free(&frames);
    return PACE_OK;
}

pace_status pace_put_modules(pace_node *root, const pace_rank *rank, const pace_work_shown *shown) {
    pace_module_tree tree;
    PACE_TRY(pace_module_tree_build(&tree, rank, &shown->work, shown->host_from_ns, shown->host_to_ns));
    put_tree(root, &tree, shown);
    pace_status status = tree.nodes.count > 2 ? pace_put_module_flame(root, rank, shown) : PACE_OK;
    put_classes(root, &tree, shown);
    pace_module_tree_free(&tree);
    if (status == PACE_OK) status = put_frames(root, rank, shown);
    return status == PACE_OK ? pace_put_stacks(root, rank, shown) : status;
}
