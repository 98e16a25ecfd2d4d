#include "cost/trees.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 128, DEEPEST = 8, NODES = 2 << DEEPEST };

typedef struct {
    double sum;
    double count;
} bin;

typedef struct {
    const pace_trees_options *options;
    const float *targets;
    unsigned features;
    size_t train, count;
    uint8_t *bins;      /* feature-major: features x count */
    float *edges;       /* features x BINS: the largest value of each bin */
    unsigned *used;     /* bins of each feature; 0: all rows have the same */
    float *predictions; /* of every row */
    float *residuals;   /* of the drawn rows, clipped; scratch of quantiles */
    float *scratch;
    uint32_t *rows; /* drawn rows, sorted by node */
    uint32_t *moved;
    bin (*histograms)[BINS];
    uint64_t random;
} booster;

static uint64_t draw(uint64_t *state) { /* SplitMix64 (Steele et al. 2014) */
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool chance(uint64_t *state, double share) { return (double)(draw(state) >> 11) * 0x1p-53 < share; }

/* The value of rank `rank` in ascending order; reorders (Hoare's selection). */
static float ranked(float *values, size_t count, size_t rank) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        float pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i >= j) break;
            float swap = values[i];
            values[i] = values[j], values[j] = swap;
        }
        if (rank <= j) high = j;
        else low = j + 1;
    }
    return values[low];
}

PACE_ORDER(ascending, float, PACE_UP_OF(*))

/* Bins of equal counts, from at most 20 000 rows; equal values never part. */
static void make_edges(booster *b, const float *features, unsigned feature, float *values) {
    size_t step = b->train / 20000 + 1, count = 0;
    for (size_t i = 0; i < b->train; i += step) values[count++] = features[i * b->features + feature];
    qsort(values, count, sizeof *values, ascending);
    float *edges = b->edges + (size_t)feature * BINS;
    unsigned used = 0;
    for (unsigned k = 1; k <= BINS - 1; k++) {
        float edge = values[(count - 1) * k / (BINS - 1)];
        if (used == 0 || edge > edges[used - 1]) edges[used++] = edge;
    }
    b->used[feature] = used;
}

static uint8_t bin_of(const float *edges, unsigned used, float value) {
    unsigned low = 0; /* first edge >= value; past the last: bin `used` */
    PACE_SEARCH(low, used, middle, edges[middle] < value);
    return (uint8_t)low;
}

static void fill_bins(booster *b, const float *features) {
    for (unsigned f = 0; f < b->features; f++) {
        uint8_t *bins = b->bins + (size_t)f * b->count;
        bool varies = false;
        make_edges(b, features, f, b->scratch);
        for (size_t i = 0; i < b->count; i++) {
            bins[i] = bin_of(b->edges + (size_t)f * BINS, b->used[f], features[i * b->features + f]);
            varies = varies || bins[i] != bins[0];
        }
        if (!varies) b->used[f] = 0;
    }
}

typedef struct {
    size_t first, end; /* of the node's rows */
    double sum;
    unsigned node; /* of the tree */
} region;

typedef struct {
    double gain, left_sum;
    unsigned feature, bin;
    size_t left_count;
} cut;

static void find_cut(booster *b, const region *at, unsigned feature, cut *best) {
    bin *histogram = b->histograms[0];
    const uint8_t *bins = b->bins + (size_t)feature * b->count;
    memset(histogram, 0, sizeof *b->histograms);
    for (size_t i = at->first; i < at->end; i++) {
        bin *here = &histogram[bins[b->rows[i]]];
        here->sum += (double)b->residuals[b->rows[i]];
        here->count++;
    }
    double all = (double)(at->end - at->first), sum = 0, count = 0, least = b->options->least_rows;
    double whole = at->sum * at->sum / all;
    for (unsigned k = 0; k < b->used[feature]; k++) {
        sum += histogram[k].sum, count += histogram[k].count;
        if (count < least) continue;
        if (all - count < least) break;
        double rest = at->sum - sum, gain = sum * sum / count + rest * rest / (all - count) - whole;
        if (gain > best->gain) *best = (cut){gain, sum, feature, k, (size_t)count};
    }
}

/* Rows of the region, those of the left child first; both keep their order. */
static void part(booster *b, const region *at, const cut *c) {
    const uint8_t *bins = b->bins + (size_t)c->feature * b->count;
    size_t left = at->first, right = 0;
    for (size_t i = at->first; i < at->end; i++) {
        uint32_t row = b->rows[i];
        if (bins[row] <= c->bin) b->rows[left++] = row;
        else b->moved[right++] = row;
    }
    memcpy(b->rows + left, b->moved, right * sizeof *b->moved);
}

/* Huber's mean of the region's true residuals: the median, and the mean of what the clipped rest lies off it. */
static float leaf_value(booster *b, const region *at, double clip) {
    size_t count = at->end - at->first;
    for (size_t i = 0; i < count; i++)
        b->scratch[i] = b->targets[b->rows[at->first + i]] - b->predictions[b->rows[at->first + i]];
    double median = (double)ranked(b->scratch, count, count / 2), sum = 0;
    for (size_t i = 0; i < count; i++) {
        double off = (double)b->scratch[i] - median;
        sum += off > clip ? clip : off < -clip ? -clip : off;
    }
    return (float)(b->options->rate * (median + sum / (double)count));
}

static pace_status grow(pace_trees *trees, booster *b, size_t drawn, double clip, const uint8_t *offered) {
    region queue[NODES];
    unsigned depth[NODES], waiting = 1, next = 1;
    uint32_t root = (uint32_t)trees->nodes.count;
    queue[0] = (region){0, drawn, 0, 0};
    depth[0] = 0;
    for (size_t i = 0; i < drawn; i++) queue[0].sum += (double)b->residuals[b->rows[i]];
    PACE_TRY(PACE_PUSH(&trees->roots, root));
    PACE_TRY(PACE_PUSH(&trees->nodes, ((pace_tree_node){-1, 0, 0})));
    for (unsigned at = 0; at < waiting; at++) {
        region here = queue[at];
        cut best = {1e-9, 0, 0, 0, 0};
        if (depth[at] < b->options->depth && here.end - here.first >= 2 * b->options->least_rows)
            for (unsigned f = 0; f < b->features; f++)
                if (offered[f] && b->used[f] > 0) find_cut(b, &here, f, &best);
        pace_tree_node *node = &trees->nodes.items[root + here.node];
        if (best.left_count == 0) {
            *node = (pace_tree_node){-1, 0, leaf_value(b, &here, clip)};
            continue;
        }
        *node =
            (pace_tree_node){(int16_t)best.feature, (uint16_t)next, b->edges[(size_t)best.feature * BINS + best.bin]};
        part(b, &here, &best);
        size_t middle = here.first + best.left_count;
        depth[waiting] = depth[waiting + 1] = depth[at] + 1;
        queue[waiting++] = (region){here.first, middle, best.left_sum, next};
        queue[waiting++] = (region){middle, here.end, here.sum - best.left_sum, next + 1};
        next += 2;
        PACE_TRY(PACE_PUSH(&trees->nodes, ((pace_tree_node){-1, 0, 0})));
        PACE_TRY(PACE_PUSH(&trees->nodes, ((pace_tree_node){-1, 0, 0})));
    }
    return PACE_OK;
}

static float walk(const pace_tree_node *tree, const float *features) {
    unsigned at = 0;
    while (tree[at].feature >= 0) at = tree[at].left + !(features[tree[at].feature] <= tree[at].value);
    return tree[at].value;
}

static pace_status boost_round(pace_trees *trees, booster *b, const float *features) {
    uint8_t offered[PACE_TREES_FEATURES] = {0};
    size_t drawn = 0, kept = 0;
    for (unsigned f = 0; f < b->features; f++) kept += offered[f] = chance(&b->random, b->options->feature_share);
    if (kept == 0) memset(offered, 1, sizeof offered);
    for (size_t i = 0; i < b->train; i++)
        if (chance(&b->random, b->options->row_share)) b->rows[drawn++] = (uint32_t)i;
    if (drawn == 0) return PACE_OK;
    for (size_t i = 0; i < drawn; i++) b->scratch[i] = fabsf(b->targets[b->rows[i]] - b->predictions[b->rows[i]]);
    float clip = ranked(b->scratch, drawn, (size_t)((double)(drawn - 1) * b->options->clip));
    for (size_t i = 0; i < drawn; i++) {
        float r = b->targets[b->rows[i]] - b->predictions[b->rows[i]];
        b->residuals[b->rows[i]] = r > clip ? clip : r < -clip ? -clip : r;
    }
    PACE_TRY(grow(trees, b, drawn, (double)clip, offered));
    const pace_tree_node *tree = trees->nodes.items + trees->roots.items[trees->roots.count - 1];
    for (size_t i = 0; i < b->count; i++) b->predictions[i] += walk(tree, features + i * b->features);
    return PACE_OK;
}

static double held_out_error(const booster *b) {
    double sum = 0;
    for (size_t i = b->train; i < b->count; i++) sum += fabs((double)b->targets[i] - (double)b->predictions[i]);
    return sum;
}

/* Then every further tree is one leaf that adds nothing. */
static bool nothing_left(const booster *b) {
    for (size_t i = 0; i < b->train; i++)
        if (b->targets[i] != b->predictions[i]) return false;
    return true;
}

static pace_status boost(pace_trees *trees, booster *b, const float *features) {
    memcpy(b->scratch, b->targets, b->train * sizeof *b->scratch);
    trees->start = b->train ? ranked(b->scratch, b->train, b->train / 2) : 0;
    for (size_t i = 0; i < b->count; i++) b->predictions[i] = trees->start;
    double best = held_out_error(b);
    size_t best_rounds = 0;
    for (unsigned round = 0; round < b->options->rounds && !nothing_left(b); round++) {
        PACE_TRY(boost_round(trees, b, features));
        double error = held_out_error(b);
        if (error < best) best = error, best_rounds = trees->roots.count;
    }
    if (b->count == b->train || best_rounds == trees->roots.count) return PACE_OK;
    trees->nodes.count = trees->roots.items[best_rounds];
    trees->roots.count = best_rounds;
    return PACE_OK;
}

static pace_status reserve(booster *b) {
    return PACE_MAKE(b->bins, b->count * b->features) && PACE_MAKE(b->edges, (size_t)b->features * BINS) &&
                   PACE_MAKE(b->used, b->features) && PACE_MAKE(b->predictions, b->count) &&
                   PACE_MAKE(b->residuals, b->count) && PACE_MAKE(b->scratch, b->count) &&
                   PACE_MAKE(b->rows, b->count) && PACE_MAKE(b->moved, b->count) && PACE_MAKE(b->histograms, 1)
               ? PACE_OK
               : PACE_E_MEMORY;
}

pace_status pace_trees_fit(pace_trees *out, const float *features, unsigned feature_count, const float *targets,
                           size_t train, size_t count, const pace_trees_options *options) {
    if (feature_count == 0 || feature_count > PACE_TREES_FEATURES || train == 0 || train > count ||
        count > UINT32_MAX || options->depth > DEEPEST)
        return pace_fail(PACE_E_INTERNAL, "trees: %u features, %zu of %zu rows, depth %u", feature_count, train, count,
                         options->depth);
    booster b = {.options = options,
                 .targets = targets,
                 .features = feature_count,
                 .train = train,
                 .count = count,
                 .random = options->seed};
    pace_trees trees = {.features = feature_count};
    pace_status status = reserve(&b);
    if (status == PACE_OK) {
        fill_bins(&b, features);
        status = boost(&trees, &b, features);
    }
    void *blocks[] = {b.bins, b.edges, b.used, b.predictions, b.residuals, b.scratch, b.rows, b.moved, b.histograms};
    for (size_t i = 0; i < PACE_COUNT(blocks); i++) pace_free(blocks[i]);
    return PACE_GIVE(out, trees, status, pace_trees_free(&trees));
}

void pace_trees_free(pace_trees *trees) { PACE_VEC_FREE(&trees->nodes, &trees->roots); }

double pace_trees_predict(const pace_trees *trees, const float *features) {
    double sum = (double)trees->start;
    for (size_t i = 0; i < trees->roots.count; i++)
        sum += (double)walk(trees->nodes.items + trees->roots.items[i], features);
    return sum;
}

static bool tree_valid(const pace_trees *trees, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        const pace_tree_node *node = &trees->nodes.items[i];
        if (!isfinite(node->value)) return false;
        if (node->feature < 0) continue;
        if ((unsigned)node->feature >= trees->features) return false;
        if (node->left <= i - first || node->left + (size_t)1 >= end - first) return false; /* down, never up: ends */
    }
    return first < end;
}

bool pace_trees_valid(const pace_trees *trees) {
    if (trees->features > PACE_TREES_FEATURES || !isfinite(trees->start)) return false;
    for (size_t i = 0; i < trees->roots.count; i++) {
        size_t end = i + 1 < trees->roots.count ? trees->roots.items[i + 1] : trees->nodes.count;
        if (end > trees->nodes.count || trees->roots.items[i] >= end || !tree_valid(trees, trees->roots.items[i], end))
            return false;
    }
    return true;
}
