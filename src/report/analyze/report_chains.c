/* Chains of simple kernels that a compiler could fuse. */
#include "report/analyze/analyze_parts.h"
#include "report/show.h"
#include "base/text.h"
#include "insight/tables/kernel_chains.h"
#include "base/print.h"

#include <string.h>

typedef struct {
    const char *text, *first;
    pace_kernel_chain of;
    double share;
} chain_row;

PACE_TABLE_IF_ROWS(chains_table, "kernel_chains", "Chains of simple kernels that fusing would shorten", PACE_FOR_ALL, 6,
                   {"text", "operators of its kernels", PACE_SHOW_TEXT, PACE_OF(chain_row, text)},
                   {"first_kernel", NULL, PACE_SHOW_TEXT, PACE_OF(chain_row, first)},
                   {"kernels", "kernels", PACE_SHOW_INT, PACE_OF(chain_row, of.kernels)},
                   {"times", "times", PACE_SHOW_INT, PACE_OF(chain_row, of.times)},
                   {"time_ns", "time", PACE_SHOW_NS, PACE_OF(chain_row, of.time_ns)},
                   {"gap_ns", "gaps", PACE_SHOW_NS, PACE_OF(chain_row, of.gap_ns)},
                   {"share", "share", PACE_SHOW_SHARE, PACE_OF(chain_row, share)});

enum { ONE_NAME = 40, WHOLE_TEXT = 1024 };

/* A kernel's operator, or, where none was recorded, its own name, as short as it stays telling. NULL: out of memory. */
static char *name_of(const pace_step *step, pace_op_cache *cache, uint32_t task) {
    uint32_t op = pace_operator_of(step, cache, task);
    const char *name = pace_step_name(step, op == PACE_NO_TASK ? task : op);
    char *simple = pace_text_simple(pace_starts(name, "aten::") ? name + strlen("aten::") : name);
    char *out = simple ? pace_text_shorten(simple, ONE_NAME) : NULL;
    pace_free(simple);
    return out;
}

/* "pow + mean + rsqrt + mul x 2": a name that repeats is counted. */
static pace_status write_chain(char out[WHOLE_TEXT], const pace_step *step, const pace_kernel_chains *chains,
                               const pace_kernel_chain *chain, pace_op_cache *cache) {
    size_t alike = 0;
    char *before = NULL;
    out[0] = '\0';
    for (size_t i = 0; i <= chain->kernels; i++) {
        char *name = i < chain->kernels ? name_of(step, cache, chains->tasks.items[chain->first + i]) : NULL;
        if (i < chain->kernels && !name) {
            pace_free(before);
            return PACE_E_MEMORY;
        }
        bool same = before && name && strcmp(before, name) == 0;
        if (before && !same && alike > 1) pace_append(out, WHOLE_TEXT, " x %zu", alike);
        if (name && !same) pace_list(out, WHOLE_TEXT, " + ", "%s", name);
        alike = same ? alike + 1 : 1;
        pace_free(before);
        before = name;
    }
    pace_free(before);
    return PACE_OK;
}

static pace_status put_row(pace_node *table, const pace_rank *rank, const pace_kernel_chains *chains, size_t i,
                           pace_op_cache *cache, int64_t total_ns) {
    char text[WHOLE_TEXT];
    const pace_kernel_chain *from = &chains->rows.items[i];
    PACE_TRY(write_chain(text, &rank->step, chains, from, cache));
    pace_table_put(table, &(chain_row){.text = text,
                                       .first = pace_names_text(&rank->step.names, chains->names.items[from->first]),
                                       .of = *from,
                                       .share = total_ns > 0 ? (double)from->time_ns / (double)total_ns : 0});
    return PACE_OK;
}

pace_status pace_put_chains(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                            const pace_work_shown *shown) {
    pace_kernel_chains chains;
    pace_op_cache cache;
    PACE_TRY(pace_kernel_chains_find(&chains, rank, analysis->classes, &shown->work));
    pace_node *table = pace_work_table(root, &chains_table, 0, shown);
    pace_status status = PACE_OK;
    pace_op_cache_init(&cache, &rank->step);
    for (size_t i = 0; i < chains.rows.count && status == PACE_OK; i++)
        status = put_row(table, rank, &chains, i, &cache, shown->total_ns);
    if (chains.rows.count && shown->total_ns > 0)
        pace_node_note(
            root,
            "Element-wise work, normalizations, softmax and layout changes that nothing interrupts on their "
            "stream: %.1f %% of the device time in %zu kernels, with gaps of %s between them. Fused, a chain "
            "reads and writes memory once.",
            100.0 * (double)chains.time_ns / (double)shown->total_ns, chains.kernels, pace_show_ns(chains.gap_ns).text);
    pace_op_cache_free(&cache);
    pace_kernel_chains_free(&chains);
    return status;
}
