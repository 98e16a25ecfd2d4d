#include "ask/rows/columns.h"

#include "ask/rows/column_words.h"
#include "exchange/algorithms.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const pace_yaml_node *member(const pace_columns *columns, const char *key) {
    return pace_yaml_get(columns->kernel, key);
}

const pace_layout *pace_columns_layout(const pace_columns *columns, pace_op_family family, pace_compound compound,
                                       const pace_layout *after) {
    for (unsigned i = after ? (unsigned)(after - columns->layouts) + 1 : 0; i < columns->layout_count; i++) {
        const pace_layout *layout = &columns->layouts[i];
        bool meant = family == PACE_OP_UNKNOWN && compound == PACE_COMPOUND_NONE
                         ? layout->missing < 0 && !layout->by_op
                         : layout->compound == compound && (compound || layout->family == family);
        if (meant) return layout;
    }
    return NULL;
}

static bool uses(const pace_layout *layout, size_t column) {
    for (unsigned i = 0; i < layout->count; i++)
        for (unsigned s = 0; s < layout->size[i].count; s++)
            for (unsigned k = 0; k < layout->size[i].from[s].count; k++)
                if (layout->size[i].from[s].column[k] == (int)column) return true;
    return false;
}

/* The closest of the columns that mean nothing yet; NULL = none is like it. */
static const char *closest_column(const pace_csv *csv, const pace_layout *layout, const char *word) {
    const char *best = NULL;
    for (size_t i = 0; i < csv->columns; i++)
        if (!uses(layout, i)) best = pace_word_nearer(word, best, pace_csv_name(csv, i));
    return best && pace_word_is_near(word, best) ? best : NULL;
}

/* Without a family: the one that the most columns of the table speak for. */
static const pace_layout *likeliest(const pace_columns *columns) {
    const pace_layout *best = NULL;
    double most = 0;
    for (unsigned i = 0; i < columns->layout_count; i++) {
        const pace_layout *layout = &columns->layouts[i];
        double there = 0;
        if (layout->by_op) continue;
        for (unsigned k = 0; k < layout->count; k++) there += layout->size[k].count > 0;
        double share = there * there / layout->count;
        if (share > most) most = share, best = layout;
    }
    return best;
}

pace_status pace_columns_fail(const pace_columns *columns, const pace_csv *csv, pace_op_family family) {
    const pace_layout *layout =
        family == PACE_OP_UNKNOWN ? likeliest(columns) : pace_columns_layout(columns, family, PACE_COMPOUND_NONE, NULL);
    const char *name = layout && layout->missing >= 0 ? layout->names[layout->missing] : NULL;
    const char *closest = name ? closest_column(csv, layout, name) : NULL;
    if (!name || (!closest && family == PACE_OP_UNKNOWN))
        return pace_fail(
            PACE_E_INPUT,
            "%s: no column names the sizes of an operation: expected columns such as m, n, k, or \"shape\" "
            "(or \"op\"); of steps a column \"model\", of exchanges \"bytes\"",
            csv->name);
    return pace_fail(PACE_E_INPUT, "%s: no column \"%s\" for family %s%s%.60s%s", csv->name, name,
                     layout->compound ? pace_compound_name(layout->compound) : pace_op_family_name(layout->family),
                     closest ? "; the closest name is \"" : "", closest ? closest : "", closest ? "\"" : "");
}

unsigned pace_columns_present(const pace_columns *columns, const char *section, const pace_csv *csv,
                              const char *const *words) {
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_root(columns->yaml), section);
    unsigned count = 0;
    for (; *words; words++) {
        const pace_yaml_node *names = pace_yaml_get(all, *words);
        bool there = false;
        for (size_t c = 0; c < csv->columns && !there; c++) there = pace_word_listed(names, pace_csv_name(csv, c));
        count += there;
    }
    return count;
}

/* --- words of cells ----------------------------------------------------------------------------------------------- */

/* "torch.bfloat16", "aten::mm", "cudaMemcpy…": what tools put before a word says nothing. */
static const char *behind_prefix(const char *word, const pace_yaml_node *prefixes) {
    for (bool again = true; again;) {
        again = false;
        PACE_YAML_EACH (one, prefixes) {
            const char *prefix = pace_yaml_text(one);
            size_t length = prefix ? strlen(prefix) : 0;
            if (length == 0 || pace_strncasecmp(word, prefix, length) != 0 || !word[length]) continue;
            word += length;
            again = true;
        }
    }
    return word;
}

bool pace_columns_dtype(pace_op *op, const pace_columns *columns, const char *word) {
    const pace_yaml_node *list = member(columns, "dtypes");
    word = behind_prefix(word, member(columns, "dtype_prefixes"));
    PACE_YAML_EACH (entry, list) {
        if (!pace_word_listed(pace_yaml_get(entry, "names"), word)) continue;
        const char *precision = pace_yaml_text_of(entry, "precision");
        double bytes;
        for (int p = 0; precision && p < PACE_PRECISIONS; p++) {
            if (strcmp(pace_precision_key((pace_precision)p), precision) != 0) continue;
            if (pace_yaml_number(&bytes, columns->yaml, pace_yaml_get(entry, "bytes")) != PACE_OK) return false;
            op->precision = (pace_precision)p;
            op->element_bytes = bytes >= 1 && bytes <= 16 ? (int)bytes : 4;
            return true;
        }
    }
    return false;
}

static bool starts_with_one(const pace_yaml_node *words, const char *text) {
    PACE_YAML_EACH (one, words) {
        const char *word = pace_yaml_text(one);
        if (word && pace_strncasecmp(text, word, strlen(word)) == 0) return true;
    }
    return false;
}

const char *pace_columns_quantised(const pace_columns *columns, const char *source, const char *dtype) {
    const pace_yaml_node *rules = member(columns, "quantised");
    bool twice = starts_with_one(pace_yaml_get(rules, "twice"), source);
    if (!twice && !starts_with_one(pace_yaml_get(rules, "once"), source)) return "";
    return twice && !pace_word_listed(pace_yaml_get(rules, "once_dtypes"), dtype) ? "quantised" : "quantised_once";
}

static double number_of(const pace_columns *columns, const pace_yaml_node *entry, const char *key, double otherwise) {
    const pace_yaml_node *node = pace_yaml_get(entry, key);
    double value;
    return node && pace_yaml_number(&value, columns->yaml, node) == PACE_OK ? value : otherwise;
}

static bool take_op(pace_op_words *out, const pace_columns *columns, const pace_yaml_node *entry) {
    const char *family = pace_yaml_text_of(entry, "family");
    const char *compound = pace_yaml_text_of(entry, "compound");
    const char *kind = pace_yaml_text_of(entry, "kind");
    const char *dtype = pace_yaml_text_of(entry, "dtype");
    pace_op *op = &out->op;
    out->compound = compound ? pace_compound_find(compound) : PACE_COMPOUND_NONE;
    op->family = out->compound ? PACE_OP_OTHER : family ? pace_op_family_find(family) : PACE_OP_FAMILIES;
    if (op->family == PACE_OP_FAMILIES) return false;
    snprintf(op->kind, sizeof op->kind, "%s", kind ? kind : "");
    out->queries = number_of(columns, entry, "queries", NAN);
    out->causal = number_of(columns, entry, "causal", NAN);
    out->head_dim = number_of(columns, entry, "head_dim", NAN);
    out->kv_heads = number_of(columns, entry, "kv_heads", NAN);
    if (op->family == PACE_OP_ELEMENTWISE) {
        op->size[1] = number_of(columns, entry, "inputs", 1);
        op->size[2] = number_of(columns, entry, "outputs", 1);
    }
    return !dtype || pace_columns_dtype(op, columns, dtype);
}

static bool find_op(pace_op_words *out, const pace_columns *columns, const char *word) {
    const pace_yaml_node *list = member(columns, "ops");
    PACE_YAML_EACH (entry, list)
        if (pace_word_listed(pace_yaml_get(entry, "names"), word)) return take_op(out, columns, entry);
    pace_op_family family = pace_op_family_find(word);
    if (family == PACE_OP_FAMILIES || family == PACE_OP_UNKNOWN) return false;
    out->op.family = family;
    return true;
}

/* "conv2d_bwd_data", "softmax backward": the operation before its pass. */
static bool find_op_and_pass(pace_op_words *out, const pace_columns *columns, const char *word) {
    char plain[PACE_PLAIN_NAME];
    pace_plain_name(plain, word);
    for (char *at = strchr(plain, '_'); at; at = strchr(at + 1, '_')) {
        pace_op_words found = *out;
        *at = '\0';
        if (pace_columns_pass(&found, columns, at + 1) && find_op(&found, columns, plain)) {
            *out = found;
            return true;
        }
        if (pace_columns_pass(&found, columns, plain) && find_op(&found, columns, at + 1)) {
            *out = found;
            return true;
        }
        *at = '_';
    }
    return false;
}

/* "Host to Device, pageable", "fused add layer norm bwd": the longest run of two words and more that is an operation,
 * the last of these, and the pass behind it. */
static bool find_op_of_words(pace_op_words *out, const pace_columns *columns, const char *text) {
    pace_name_words name;
    pace_name_words_cut(&name, text);
    for (unsigned length = name.count; length >= 2; length--)
        for (unsigned from = name.count - length + 1; from-- > 0;) {
            char joined[PACE_PLAIN_NAME] = "";
            pace_op_words found = *out;
            for (unsigned i = 0; i < length; i++)
                pace_append(joined, sizeof joined, "%s%s", i > 0 ? "_" : "", name.word[from + i]);
            if (!find_op(&found, columns, joined)) continue;
            if (from + length < name.count) (void)pace_columns_pass(&found, columns, name.word[from + length]);
            *out = found;
            return true;
        }
    return false;
}

/* "enc-attention-dropout", "embedding_bwd_sgd_kernel": the last of the name's words that is an operation, or the last
 * before a pass. */
static bool find_op_within(pace_op_words *out, const pace_columns *columns, const char *word) {
    char plain[PACE_PLAIN_NAME], *rest = NULL;
    bool known = false;
    pace_plain_name(plain, word);
    for (char *at = strtok_r(plain, "_", &rest); at; at = strtok_r(NULL, "_", &rest)) {
        pace_op_words found = *out;
        if (strlen(at) < 2) continue;
        if (known && pace_columns_pass(out, columns, at)) break;
        if (!find_op(&found, columns, at)) continue;
        *out = found;
        known = true;
    }
    return known;
}

bool pace_columns_op(pace_op_words *out, const pace_columns *columns, const char *word) {
    word = behind_prefix(word, member(columns, "op_prefixes"));
    pace_collective exchange; /* "all_reduce" is no reduction */
    return find_op(out, columns, word) || find_op_and_pass(out, columns, word) ||
           (!pace_collective_find(&exchange, word) &&
            (find_op_of_words(out, columns, word) || find_op_within(out, columns, word)));
}

bool pace_columns_pass(pace_op_words *out, const pace_columns *columns, const char *word) {
    const pace_yaml_node *passes = member(columns, "passes");
    out->both = pace_word_listed(pace_yaml_get(passes, "both"), word);
    if (out->both) return true;
    for (int pass = 0; pass < PACE_PASSES; pass++) {
        if (!pace_word_listed(pace_yaml_get(passes, pace_pass_names[pass]), word)) continue;
        out->op.pass = (pace_pass)pass;
        return true;
    }
    return false;
}

bool pace_columns_timed(bool *calls, const pace_yaml *yaml, const char *word) {
    const pace_yaml_node *words = pace_yaml_get(pace_yaml_root(yaml), "timed");
    *calls = pace_word_listed(pace_yaml_get(words, "calls"), word);
    return *calls || pace_word_listed(pace_yaml_get(words, "alone"), word);
}
