#include "sweep.h"

#include "base/intern.h"

#include <math.h>
#include <string.h>

/* More points than anybody would measure: a slip in a grid. */
enum { MOST_COMBINATIONS = 20 * 1000 * 1000, MOST_POINTS = 2 * 1000 * 1000, MOST_VALUES = 64, MOST_KEEPS = 8 };

static const char *const level_names[] = {"quick", "default", "full"};

typedef struct {
    int count, index[PACE_POINT_SIZES]; /* sizes that vary */
    double values[PACE_POINT_SIZES][MOST_VALUES];
    int value_count[PACE_POINT_SIZES];
} grid;

typedef struct {
    unsigned over, under; /* bits of sizes: product of `over` divided by that of `under` */
    double least, most;
} bound;

typedef struct {
    pace_sweep *out;
    const pace_sweep_choice *choice;
    const pace_yaml_node *node;
    const char *family, *by;
    grid grid;
    bound keep[MOST_KEEPS];
    int keep_count;
    PACE_VEC(uint64_t) slots; /* hashes of points met; 0 = free; a power of two */
    size_t seen;
} expander;

static pace_status fail_at(const expander *e, const pace_yaml_node *node, const char *what) {
    return pace_fail(PACE_E_INPUT, "%s: %s", pace_yaml_place(e->out->yaml, node ? node : e->node), what);
}

/* --- each point once -------------------------------------------------------------------------------------------- */

static uint64_t point_hash(const expander *e, const pace_point *point) {
    int words[3] = {(int)point->op, (int)point->dtype, (int)point->pass};
    uint64_t hash = pace_hash(point->size, sizeof point->size) * 31 + pace_hash(words, sizeof words);
    if (e->by) hash = hash * 31 + pace_hash(e->by, strlen(e->by));
    return hash ? hash : 1;
}

static bool insert(uint64_t *slots, size_t size, uint64_t hash) {
    size_t at = hash & (size - 1);
    for (; slots[at]; at = (at + 1) & (size - 1))
        if (slots[at] == hash) return false;
    slots[at] = hash;
    return true;
}

static pace_status grow_slots(expander *e) {
    size_t size = e->slots.count ? 2 * e->slots.count : 4096;
    uint64_t *slots = pace_alloc(size, sizeof *slots);
    if (!slots) return PACE_E_MEMORY;
    for (size_t i = 0; i < e->slots.count; i++)
        if (e->slots.items[i]) insert(slots, size, e->slots.items[i]);
    pace_free(e->slots.items);
    e->slots.items = slots;
    e->slots.count = e->slots.capacity = size;
    return PACE_OK;
}

static double product(const pace_point *point, unsigned bits) {
    double value = 1;
    for (unsigned i = 0; i < PACE_POINT_SIZES; i++)
        if (bits & (1u << i)) value *= point->size[i];
    return value;
}

static bool is_kept(const expander *e, const pace_point *point) {
    for (int i = 0; i < e->keep_count; i++) {
        double value = product(point, e->keep[i].over) / product(point, e->keep[i].under);
        if (!(value >= e->keep[i].least && value <= e->keep[i].most)) return false;
    }
    return true;
}

static pace_status add_point(expander *e, pace_point point) {
    const char *missing;
    if (!is_kept(e, &point)) return PACE_OK;
    if (!pace_point_complete(&point, &missing))
        return pace_fail(PACE_E_INPUT, "%s: %s needs the size \"%s\", a whole number above 0",
                         pace_yaml_place(e->out->yaml, e->node), pace_point_op_names[point.op], missing);
    if (e->seen == MOST_POINTS) return fail_at(e, NULL, "more than 2 million points");
    if (2 * (e->seen + 1) > e->slots.count) PACE_TRY(grow_slots(e));
    if (!insert(e->slots.items, e->slots.count, point_hash(e, &point))) return PACE_OK;
    e->seen++;
    if (e->choice->memory_bytes > 0 && pace_point_footprint(&point) > e->choice->memory_bytes) {
        e->out->too_large++;
        return PACE_OK;
    }
    return PACE_PUSH(&e->out->points, ((pace_sweep_point){point, e->family, e->by}));
}

/* --- grids ------------------------------------------------------------------------------------------------------ */

static double combinations(const grid *g) {
    double count = 1;
    for (int i = 0; i < g->count; i++) count *= g->value_count[i];
    return count;
}

/* The combination of that number, the last size varying fastest. */
static void set_combination(pace_point *point, const grid *g, uint64_t number) {
    for (int i = g->count - 1; i >= 0; i--) {
        point->size[g->index[i]] = g->values[i][number % (uint64_t)g->value_count[i]];
        number /= (uint64_t)g->value_count[i];
    }
}

static pace_status add_all(expander *e, pace_point point) {
    uint64_t count = (uint64_t)combinations(&e->grid);
    for (uint64_t i = 0; i < count; i++) {
        set_combination(&point, &e->grid, i);
        PACE_TRY(add_point(e, point));
    }
    return PACE_OK;
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The gradients of an m x k by k x n product are m x n by n x k and k x m by m x n (n x k by m in our order). */
static pace_status add_gradients(expander *e, pace_point point) {
    double m = point.size[PACE_SIZE_M], n = point.size[PACE_SIZE_N], k = point.size[PACE_SIZE_K];
    point.size[PACE_SIZE_N] = k;
    point.size[PACE_SIZE_K] = n;
    PACE_TRY(add_point(e, point));
    point.size[PACE_SIZE_M] = n;
    point.size[PACE_SIZE_K] = m;
    return add_point(e, point);
}

typedef struct {
    double count, seed, at_most, gradients;
} drawing;

static pace_status add_drawn(expander *e, pace_point point, const drawing *draw) {
    uint64_t state = (uint64_t)draw->seed, total = (uint64_t)combinations(&e->grid);
    size_t first = e->out->points.count;
    for (double i = 0; i < draw->count && e->out->points.count - first < draw->at_most; i++) {
        set_combination(&point, &e->grid, next_random(&state) % total);
        PACE_TRY(add_point(e, point));
        if (draw->gradients > 0) PACE_TRY(add_gradients(e, point));
    }
    if (e->out->points.count - first > draw->at_most) e->out->points.count = first + (size_t)draw->at_most;
    return PACE_OK;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

static pace_status read_sizes(expander *e) {
    const pace_yaml_node *sizes = pace_yaml_get(e->node, "sizes");
    grid *g = &e->grid;
    if (!pace_yaml_is_map(sizes)) return fail_at(e, sizes, "expected a map \"sizes\"");
    g->count = 0;
    for (size_t i = 0; i < pace_yaml_count(sizes); i++) {
        const pace_yaml_node *list = pace_yaml_item(sizes, i);
        int index = pace_word_find(pace_point_size_names, PACE_POINT_SIZES, pace_yaml_key(sizes, i));
        size_t count = pace_yaml_count(list);
        if (index == PACE_POINT_SIZES) return fail_at(e, list, "unknown size");
        if (!pace_yaml_is_list(list) || count == 0 || count > MOST_VALUES)
            return fail_at(e, list, "expected a list of 1 to 64 numbers");
        for (size_t k = 0; k < count; k++)
            PACE_TRY(pace_yaml_number(&g->values[g->count][k], e->out->yaml, pace_yaml_item(list, k)));
        g->value_count[g->count] = (int)count;
        g->index[g->count++] = index;
    }
    return combinations(g) > MOST_COMBINATIONS ? fail_at(e, sizes, "more than 20 million combinations") : PACE_OK;
}

static pace_status read_bits(unsigned *out, const expander *e, const pace_yaml_node *list) {
    *out = 0;
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *word = pace_yaml_text(pace_yaml_item(list, i));
        int index = word ? pace_word_find(pace_point_size_names, PACE_POINT_SIZES, word) : PACE_POINT_SIZES;
        if (index == PACE_POINT_SIZES) return fail_at(e, list, "unknown size");
        *out |= 1u << index;
    }
    return PACE_OK;
}

static pace_status read_number(double *out, const expander *e, const pace_yaml_node *map, const char *key,
                               double fallback) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    *out = fallback;
    return node ? pace_yaml_number(out, e->out->yaml, node) : PACE_OK;
}

static pace_status read_keeps(expander *e) {
    const pace_yaml_node *list = pace_yaml_get(e->node, "keep");
    e->keep_count = 0;
    if (pace_yaml_count(list) > MOST_KEEPS) return fail_at(e, list, "expected at most 8 bounds");
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const pace_yaml_node *node = pace_yaml_item(list, i);
        bound *b = &e->keep[e->keep_count++];
        PACE_TRY(read_bits(&b->over, e, pace_yaml_get(node, "product")));
        PACE_TRY(read_bits(&b->under, e, pace_yaml_get(node, "over")));
        PACE_TRY(read_number(&b->least, e, node, "least", -INFINITY));
        PACE_TRY(read_number(&b->most, e, node, "most", INFINITY));
    }
    return PACE_OK;
}

/* The item's number in a list of words. */
static pace_status read_word(int *out, const expander *e, const pace_yaml_node *node, const char *const *words,
                             int count, const char *what) {
    const char *word = pace_yaml_text(node);
    *out = word ? pace_word_find(words, count, word) : count;
    if (*out < count) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: unknown %s \"%.40s\"", pace_yaml_place(e->out->yaml, node), what,
                     word ? word : "");
}

static pace_status expand_point(expander *e, pace_point point) {
    const pace_yaml_node *node = pace_yaml_get(e->node, "draw");
    if (!node) return add_all(e, point);
    drawing draw;
    const pace_yaml_node *gradients = pace_yaml_get(node, "gradients");
    PACE_TRY(read_number(&draw.count, e, node, "count", 0));
    PACE_TRY(read_number(&draw.seed, e, node, "seed", 1));
    PACE_TRY(read_number(&draw.at_most, e, node, "at_most", 1e9));
    draw.gradients = gradients && strcmp(pace_yaml_text(gradients) ? pace_yaml_text(gradients) : "", "true") == 0;
    if (!(draw.count > 0 && draw.count <= 1e6 && draw.seed >= 0 && draw.seed < 1e15))
        return fail_at(e, node, "expected a count of 1 to 1,000,000 and a seed");
    if (draw.gradients > 0 && point.op != PACE_MEASURE_GEMM) return fail_at(e, node, "only products have gradients");
    return add_drawn(e, point, &draw);
}

/* Every combination of op, dtype and pass; a missing list is one default. */
static pace_status expand_words(expander *e) {
    const pace_yaml_node *ops = pace_yaml_get(e->node, "op"), *dtypes = pace_yaml_get(e->node, "dtype");
    const pace_yaml_node *passes = pace_yaml_get(e->node, "pass");
    size_t dtype_count = dtypes ? pace_yaml_count(dtypes) : 1, pass_count = passes ? pace_yaml_count(passes) : 1;
    if (pace_yaml_count(ops) == 0) return fail_at(e, ops, "expected a list \"op\"");
    for (size_t i = 0; i < pace_yaml_count(ops); i++)
        for (size_t j = 0; j < dtype_count; j++)
            for (size_t k = 0; k < pass_count; k++) {
                int op, dtype = PACE_POINT_FP32, pass = PACE_POINT_FORWARD;
                PACE_TRY(read_word(&op, e, pace_yaml_item(ops, i), pace_point_op_names, PACE_MEASURES, "op"));
                if (dtypes)
                    PACE_TRY(read_word(&dtype, e, pace_yaml_item(dtypes, j), pace_point_dtype_names, PACE_POINT_DTYPES,
                                       "dtype"));
                if (passes)
                    PACE_TRY(read_word(&pass, e, pace_yaml_item(passes, k), pace_point_pass_names, PACE_POINT_PASSES,
                                       "pass"));
                pace_point point = {.op = (pace_measured_op)op,
                                    .dtype = (pace_point_dtype)dtype,
                                    .pass = (pace_point_pass)pass};
                for (int s = 0; s < PACE_POINT_SIZES; s++) point.size[s] = -1;
                PACE_TRY(expand_point(e, point));
            }
    return PACE_OK;
}

/* Whether `word` stands in a list with commas; NULL lists everything. */
static bool is_listed(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    return !list;
}

static pace_status expand_sweep(expander *e) {
    const char *target = pace_yaml_text(pace_yaml_get(e->node, "on"));
    int level;
    e->family = pace_yaml_text(pace_yaml_get(e->node, "family"));
    e->by = pace_yaml_text(pace_yaml_get(e->node, "by"));
    if (!target || !e->family) return fail_at(e, NULL, "a sweep needs \"family\" and \"on\"");
    PACE_TRY(read_word(&level, e, pace_yaml_get(e->node, "level"), level_names, 3, "level"));
    if (strcmp(target, e->choice->target) != 0 || level > (int)e->choice->effort) return PACE_OK;
    if (e->choice->without || !is_listed(e->choice->families, e->family)) return PACE_OK;
    PACE_TRY(read_sizes(e));
    PACE_TRY(read_keeps(e));
    return expand_words(e);
}

static pace_status read_limits(expander *e, const pace_yaml_node *root) {
    const pace_yaml_node *node = pace_yaml_get(pace_yaml_get(root, "budgets"), level_names[e->choice->effort]);
    pace_measure_limits *limits = &e->out->limits;
    double batches;
    e->node = root;
    if (!node) return fail_at(e, root, "expected \"budgets\" for every level");
    PACE_TRY(read_number(&limits->point_s, e, node, "point_s", 0.1));
    PACE_TRY(read_number(&limits->tolerance, e, node, "tolerance", 0.01));
    PACE_TRY(read_number(&batches, e, node, "batches", 15));
    if (!(limits->point_s > 0 && limits->point_s < 3600 && batches >= 3 && batches <= 1000 && limits->tolerance > 0))
        return fail_at(e, node, "a budget needs point_s above 0, batches from 3 on, tolerance above 0");
    limits->batches = (unsigned)batches;
    limits->batch_s = limits->point_s / 60;
    return PACE_OK;
}

static pace_status expand_sweeps(expander *e, const pace_yaml_node *list) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        e->node = pace_yaml_item(list, i);
        PACE_TRY(expand_sweep(e));
    }
    return PACE_OK;
}

/* --- families --------------------------------------------------------------------------------------------------- */

static bool has_family(const pace_yaml_node *list, const char *target, const char *word, size_t length) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *on = pace_yaml_text(pace_yaml_get(pace_yaml_item(list, i), "on"));
        const char *family = pace_yaml_text(pace_yaml_get(pace_yaml_item(list, i), "family"));
        if (on && family && strcmp(on, target) == 0 && strlen(family) == length && strncmp(family, word, length) == 0)
            return true;
    }
    return false;
}

static pace_status fail_family(const pace_yaml_node *list, const char *target, const char *word, size_t length) {
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const char *family = pace_yaml_text(pace_yaml_get(pace_yaml_item(list, i), "family"));
        if (!family || strstr(known, family) || !has_family(list, target, family, strlen(family))) continue;
        if (used + strlen(family) + 3 > sizeof known) break;
        memcpy(known + used, " ", 1);
        memcpy(known + used + 1, family, strlen(family) + 1);
        used += strlen(family) + 1;
    }
    return pace_fail(PACE_E_USAGE, "there is no family \"%.*s\" to measure on %s; expected some of:%s",
                     length < 40 ? (int)length : 40, word, target, known);
}

static pace_status check_families(const pace_yaml_node *list, const pace_sweep_choice *choice) {
    for (const char *at = choice->families; at;) {
        size_t length = strcspn(at, ",");
        if (!has_family(list, choice->target, at, length)) return fail_family(list, choice->target, at, length);
        at = at[length] ? at + length + 1 : NULL;
    }
    return PACE_OK;
}

pace_status pace_sweep_of_yaml(pace_sweep *out, const pace_yaml *yaml, const pace_sweep_choice *choice) {
    pace_sweep sweep = {.yaml = yaml};
    expander *e = pace_alloc(1, sizeof *e);
    pace_status status = e ? PACE_OK : PACE_E_MEMORY;
    if (e) {
        const pace_yaml_node *root = pace_yaml_root(yaml), *list = pace_yaml_get(root, "sweeps");
        e->out = &sweep;
        e->choice = choice;
        status = read_limits(e, root);
        if (status == PACE_OK && !pace_yaml_is_list(list)) status = fail_at(e, root, "expected a list \"sweeps\"");
        if (status == PACE_OK) status = check_families(list, choice);
        if (status == PACE_OK) status = expand_sweeps(e, list);
        PACE_VEC_FREE(&e->slots);
        pace_free(e);
    }
    if (status != PACE_OK) pace_sweep_free(&sweep);
    else *out = sweep;
    return status;
}

pace_status pace_sweep_load(pace_sweep *out, pace_catalog *catalog, const pace_sweep_choice *choice) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "sweeps.yaml"));
    return pace_sweep_of_yaml(out, yaml, choice);
}

void pace_sweep_free(pace_sweep *sweep) { PACE_VEC_FREE(&sweep->points); }
