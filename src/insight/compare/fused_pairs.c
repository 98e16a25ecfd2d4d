#include "insight/compare/fused_pairs.h"
#include "base/order.h"

#include "base/print.h"
#include "base/text.h"
#include "insight/tables/operators.h"

#include <math.h>
#include <string.h>

const char *const pace_fused_kind_names[] = {"by fusion", "only in A", "only in B"};

/* A name of either side: an operator's, without library and the mark of working in place, or a kernel's. */
typedef struct {
    double eager_ns, compiled_ns; /* per step */
    double eager_calls, compiled_calls;
    double left_ns;   /* of eager_ns, what the same operator of the compiled side does not stand for */
    uint32_t group;   /* union-find over names: the one that stands for all */
    bool is_operator; /* of the eager side */
    bool is_fused;    /* a kernel that a compiler made */
    bool is_named;    /* by a fused kernel */
} entry;

typedef struct {
    const pace_step_side *eager, *compiled;
    pace_names names;
    PACE_VEC(entry) entries;    /* by name */
    PACE_VEC(uint64_t) modules; /* operator << 32 | module, as often as there is work: sorted and made unique */
} matcher;

/* --- names -------------------------------------------------------------------------------------------------------- */

static const char *fused_part(const char *kernel) {
    const char *at = pace_starts(kernel, "triton_") || pace_starts(kernel, "cpp_") || strstr(kernel, "_cpp_")
                         ? strstr(kernel, "fused_")
                         : NULL;
    return at ? at + strlen("fused_") : NULL;
}

static pace_status entry_of(uint32_t *out, matcher *m, const char *name, size_t length) {
    pace_name id;
    PACE_TRY(pace_names_add(&id, &m->names, name, length));
    while (m->entries.count <= id) {
        entry alone = {.group = (uint32_t)m->entries.count};
        PACE_TRY(PACE_PUSH(&m->entries, alone));
    }
    *out = id;
    return PACE_OK;
}

/* "aten::add_" is "add". */
static pace_status operator_entry(uint32_t *out, matcher *m, const char *name) {
    const char *colon = strrchr(name, ':');
    if (colon && colon > name && colon[-1] == ':') name = colon + 1;
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '_') length--;
    return entry_of(out, m, name, length);
}

static uint32_t group_of(matcher *m, uint32_t at) {
    while (m->entries.items[at].group != at) at = m->entries.items[at].group;
    return at;
}

/* Joins what a fused kernel's name lists: the longest operator at each place, else the word is passed over. */
static void join_listed(matcher *m, uint32_t kernel, const char *list) {
    size_t length = strlen(list);
    for (size_t at = 0; at < length;) {
        pace_name found = 0;
        size_t end = length;
        for (; end > at; end--) {
            bool whole = list[end] == '\0' || list[end] == '_';
            if (whole && pace_names_find(&found, &m->names, list + at, end - at) && m->entries.items[found].is_operator)
                break;
        }
        if (end > at) {
            m->entries.items[found].is_named = m->entries.items[kernel].is_named = true;
            m->entries.items[group_of(m, found)].group = group_of(m, kernel);
            at = end + (list[end] == '_');
        } else {
            at += strcspn(list + at + 1, "_") + 2;
        }
    }
}

/* --- work --------------------------------------------------------------------------------------------------------- */

static bool is_inside(const pace_step_side *side, const pace_work_item *item) {
    return pace_intervals_hold(pace_compared_steps(side), item->start_ns);
}

static uint32_t innermost_operator(const pace_step *step, uint32_t task) {
    uint32_t at = pace_task_on_device(step->kind[task]) ? pace_task_made_for(step, task) : task;
    while (at != PACE_NO_TASK && (step->kind[at] != PACE_TASK_OP || pace_name_is_label(pace_step_name(step, at))))
        at = pace_task_parent(step, at);
    return at;
}

/* What work goes by: the operator that launched it; without one, or where that only holds a compiled region, its
 * kernel. */
static const char *name_of_work(const pace_step *step, uint32_t task, bool *is_operator) {
    const char *kernel = pace_step_name(step, task);
    uint32_t at = innermost_operator(step, task);
    const char *name = at == PACE_NO_TASK ? kernel : pace_step_name(step, at);
    bool region = strstr(name, "Compiled") != NULL;
    *is_operator = at != PACE_NO_TASK && !fused_part(kernel) && !fused_part(name) && !region;
    return *is_operator ? name : fused_part(name) && !fused_part(kernel) ? name : kernel;
}

static pace_status add_compiled(matcher *m) {
    const pace_rank *rank = m->compiled->rank;
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        bool is_operator;
        uint32_t at;
        if (!is_inside(m->compiled, item)) continue;
        const char *name = name_of_work(&rank->step, item->task, &is_operator);
        if (is_operator) PACE_TRY(operator_entry(&at, m, name));
        else PACE_TRY(entry_of(&at, m, name, strlen(name)));
        entry *own = &m->entries.items[at];
        own->is_fused = own->is_fused || (!is_operator && fused_part(name));
        own->compiled_ns += pace_per_step(m->compiled, item->end_ns - item->start_ns);
        own->compiled_calls += pace_per_step(m->compiled, 1);
    }
    return PACE_OK;
}

/* Every operator around eager work may be what a fused kernel is named after. */
static pace_status note_operators(matcher *m) {
    const pace_step *step = &m->eager->rank->step;
    PACE_ITEMS (const pace_work_item, item, &m->eager->rank->work.items) {
        if (!is_inside(m->eager, item)) continue;
        uint32_t at = innermost_operator(step, item->task), own;
        for (; at != PACE_NO_TASK; at = pace_task_parent(step, at)) {
            if (step->kind[at] != PACE_TASK_OP || pace_name_is_label(pace_step_name(step, at))) continue;
            PACE_TRY(operator_entry(&own, m, pace_step_name(step, at)));
            m->entries.items[own].is_operator = true;
        }
    }
    return PACE_OK;
}

/* The innermost operator around work that a fused kernel names; else the one that launched it. */
static pace_status eager_entry(uint32_t *out, matcher *m, uint32_t task) {
    const pace_step *step = &m->eager->rank->step;
    bool is_operator;
    const char *name = name_of_work(step, task, &is_operator);
    if (!is_operator) return entry_of(out, m, name, strlen(name));
    PACE_TRY(operator_entry(out, m, name));
    for (uint32_t at = innermost_operator(step, task), own; at != PACE_NO_TASK; at = pace_task_parent(step, at)) {
        if (step->kind[at] != PACE_TASK_OP) continue;
        PACE_TRY(operator_entry(&own, m, pace_step_name(step, at)));
        if (!m->entries.items[own].is_named || m->entries.items[*out].compiled_calls > 0) continue;
        *out = own;
        break;
    }
    return PACE_OK;
}

static pace_status add_eager(matcher *m) {
    const pace_rank *rank = m->eager->rank;
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        uint32_t at;
        pace_name module = 0;
        if (!is_inside(m->eager, item)) continue;
        PACE_TRY(eager_entry(&at, m, item->task));
        m->entries.items[at].eager_ns += pace_per_step(m->eager, item->end_ns - item->start_ns);
        m->entries.items[at].eager_calls += pace_per_step(m->eager, 1);
        uint32_t within = pace_module_of(&rank->step, item->task);
        if (within != PACE_NO_TASK) module = rank->step.name[within];
        if (module) PACE_TRY(PACE_PUSH(&m->modules, (uint64_t)at << 32 | module));
    }
    return PACE_OK;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

PACE_ORDER(ascending, uint64_t, PACE_UP_OF(*))

static void sort_modules(matcher *m) {
    size_t kept = 0;
    PACE_SORT(&m->modules, ascending);
    for (size_t i = 0; i < m->modules.count; i++)
        if (kept == 0 || m->modules.items[kept - 1] != m->modules.items[i])
            m->modules.items[kept++] = m->modules.items[i];
    m->modules.count = kept;
}

/* As many calls of an operator as both sides have match by name; the rest of the eager side's was fused, or is gone. */
static void match_by_name(matcher *m, pace_fused_pairs *out) {
    for (size_t i = 1; i < m->entries.count; i++) {
        entry *own = &m->entries.items[i];
        double share = own->eager_calls > 0 ? fmin(1, own->compiled_calls / own->eager_calls) : 0;
        own->left_ns = own->eager_ns * (1 - share);
        out->by_name_ns += own->eager_ns * share;
    }
}

enum { LIST_SIZE = 1024 };

static void append(char *list, const char *text) {
    size_t used = strlen(list);
    if (used + strlen(text) + 8 < LIST_SIZE)
        pace_snprintf(list + used, LIST_SIZE - used, "%s%s", used ? ", " : "", text);
    else if (!pace_ends(list, " …")) pace_snprintf(list + used, LIST_SIZE - used, " …");
}

static void append_modules(char *list, const matcher *m, uint32_t operator) {
    const pace_names *names = &m->eager->rank->step.names;
    for (size_t i = 0; i < m->modules.count; i++) {
        if (m->modules.items[i] >> 32 != operator) continue;
        const char *name = pace_names_text(names, (pace_name)m->modules.items[i]);
        if (pace_starts(name, "nn.Module: ")) name += strlen("nn.Module: ");
        if (!strstr(list, name)) append(list, name);
    }
}

static pace_status push_row(pace_fused_pairs *out, pace_fused_row row, const char *operators, const char *kernels,
                            const char *modules) {
    row.operators = pace_copy_text(operators, strlen(operators));
    row.kernels = pace_copy_text(kernels, strlen(kernels));
    row.modules = pace_copy_text(modules, strlen(modules));
    pace_status status = row.operators && row.kernels && row.modules ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = PACE_PUSH(&out->rows, row);
    if (status == PACE_OK) return PACE_OK;
    PACE_FREE(row.operators, row.kernels, row.modules);
    return status;
}

static pace_status add_group(pace_fused_pairs *out, matcher *m, uint32_t group) {
    char operators[LIST_SIZE] = "", kernels[LIST_SIZE] = "", modules[LIST_SIZE] = "";
    double eager_ns = 0, compiled_ns = 0;
    for (uint32_t i = 1; i < m->entries.count; i++) {
        const entry *own = &m->entries.items[i];
        if (group_of(m, i) != group || (!own->is_named && i != group)) continue;
        if (own->is_fused) {
            compiled_ns += own->compiled_ns;
            append(kernels, pace_names_text(&m->names, i));
        } else if (own->left_ns > 0) {
            eager_ns += own->left_ns;
            append(operators, pace_names_text(&m->names, i));
            append_modules(modules, m, i);
        }
    }
    pace_fused_kind only = out->compiled_is_b ? PACE_FUSED_ONLY_B : PACE_FUSED_ONLY_A;
    pace_fused_row row = {.kind = eager_ns > 0 ? PACE_FUSED_TOGETHER : only};
    row.a_ns = out->compiled_is_b ? eager_ns : compiled_ns;
    row.b_ns = out->compiled_is_b ? compiled_ns : eager_ns;
    if (eager_ns > 0) out->by_fusion_ns += eager_ns;
    else out->left_ns += compiled_ns;
    return push_row(out, row, operators, kernels, modules);
}

/* What stands alone: an operator that was neither run nor named by the other side, or one that only it runs. */
static pace_status add_alone(pace_fused_pairs *out, matcher *m, uint32_t at) {
    const entry *own = &m->entries.items[at];
    const char *name = pace_names_text(&m->names, at);
    char modules[LIST_SIZE] = "";
    bool eager = own->left_ns > 0;
    double time_ns = eager ? own->left_ns : own->compiled_ns;
    pace_fused_row row = {.kind = eager != out->compiled_is_b ? PACE_FUSED_ONLY_B : PACE_FUSED_ONLY_A};
    *(row.kind == PACE_FUSED_ONLY_A ? &row.a_ns : &row.b_ns) = time_ns;
    *(eager ? &out->unmatched_ns : &out->left_ns) += time_ns;
    if (eager) append_modules(modules, m, at);
    return push_row(out, row, own->is_operator ? name : "", own->is_operator ? "" : name, modules);
}

static pace_status add_rows(pace_fused_pairs *out, matcher *m) {
    for (uint32_t i = 1; i < m->entries.count; i++) {
        const entry *own = &m->entries.items[i];
        bool alone = own->left_ns > 0 || (own->compiled_ns > 0 && own->eager_calls <= 0);
        if (own->is_named || own->is_fused) {
            if (group_of(m, i) == i) PACE_TRY(add_group(out, m, i));
        } else if (alone) PACE_TRY(add_alone(out, m, i));
    }
    return PACE_OK;
}

#define CHANGE(row) fabs((row)->b_ns - (row)->a_ns)
PACE_ORDER(by_change, pace_fused_row, PACE_DOWN_OF(CHANGE) PACE_TEXT(kernels) PACE_TEXT(operators))

/* --- both sides --------------------------------------------------------------------------------------------------- */

static double fused_ns(const pace_step_side *side) {
    double sum = 0;
    PACE_ITEMS (const pace_work_item, item, &side->rank->work.items) {
        bool is_operator;
        if (!is_inside(side, item)) continue;
        const char *name = name_of_work(&side->rank->step, item->task, &is_operator);
        if (!is_operator && fused_part(name)) sum += pace_per_step(side, item->end_ns - item->start_ns);
    }
    return sum;
}

static pace_status match(pace_fused_pairs *out, matcher *m) {
    PACE_TRY(pace_names_init(&m->names));
    PACE_TRY(add_compiled(m));
    PACE_TRY(note_operators(m));
    for (uint32_t i = 1; i < m->entries.count; i++)
        if (m->entries.items[i].is_fused) join_listed(m, i, fused_part(pace_names_text(&m->names, i)));
    PACE_TRY(add_eager(m));
    sort_modules(m);
    match_by_name(m, out);
    PACE_TRY(add_rows(out, m));
    PACE_SORT(&out->rows, by_change);
    return PACE_OK;
}

pace_status pace_fused_pairs_of(pace_fused_pairs *out, const pace_step_change *change) {
    pace_fused_pairs pairs = {0};
    double a_ns = fused_ns(&change->a), b_ns = fused_ns(&change->b);
    *out = pairs;
    if ((a_ns > 0) == (b_ns > 0)) return PACE_OK; /* neither was compiled, or both: kernels match by name */
    pairs.found = true;
    pairs.compiled_is_b = b_ns > 0;
    matcher m = {.eager = b_ns > 0 ? &change->a : &change->b, .compiled = b_ns > 0 ? &change->b : &change->a};
    pace_status status = match(&pairs, &m);
    pace_names_free(&m.names);
    PACE_VEC_FREE(&m.entries, &m.modules);
    return PACE_GIVE(out, pairs, status, pace_fused_pairs_free(&pairs));
}

void pace_fused_pairs_free(pace_fused_pairs *pairs) {
    for (size_t i = 0; i < pairs->rows.count; i++) {
        PACE_FREE(pairs->rows.items[i].operators, pairs->rows.items[i].kernels, pairs->rows.items[i].modules);
    }
    PACE_VEC_FREE(&pairs->rows);
}
