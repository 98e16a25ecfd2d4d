#include "ask/table_kind.h"

#include "exchange/algorithms.h"
#include "ask/columns.h"
#include "ask/exchange_logs.h"

#include <string.h>
#include <sys/stat.h>

enum { HEAD = 1 << 16 };

/* How many of the words, each a key of a section of columns.yaml, the table has a column for. */
static unsigned present(const pace_columns *columns, const char *section, const pace_csv *csv,
                        const char *const *words) {
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_root(columns->yaml), section);
    unsigned count = 0;
    for (; *words; words++) {
        const pace_yaml_node *names = pace_yaml_get(all, *words);
        bool there = false;
        for (size_t c = 0; c < csv->columns && !there; c++) {
            char plain[PACE_PLAIN_NAME];
            pace_plain_name(plain, pace_csv_name(csv, c));
            there = pace_word_listed(names, plain);
        }
        count += there;
    }
    return count;
}

/* A column "type" may be of precisions or of operations. */
static bool names_kernel(const pace_columns *columns, const pace_csv *csv) {
    pace_op_words words = {0};
    pace_collective exchange;
    int column = columns->op >= 0 && !columns->op_is_hint ? columns->op : columns->dtype;
    const char *op = column >= 0 && csv->rows > 0 ? pace_csv_cell(csv, 0, (size_t)column) : "";
    return *op && !pace_columns_dtype(&words.op, columns, op) && !pace_collective_find(&exchange, op) &&
           pace_columns_op(&words, columns, op);
}

/* A collective in a row beside a size or ranks, or both of these. */
static bool names_exchange(const pace_columns *columns, const pace_csv *csv) {
    static const char *const size[] = {"bytes", "elements", NULL}, *const ranks[] = {"ranks", "per_node", "nodes",
                                                                                     NULL};
    bool sized = present(columns, "exchange", csv, size) > 0, ranked = present(columns, "exchange", csv, ranks) > 0;
    for (size_t c = 0; (sized || ranked) && c < csv->columns && csv->rows > 0; c++) {
        char name[PACE_PLAIN_NAME];
        pace_collective exchange;
        pace_plain_name(name, pace_csv_name(csv, c));
        const pace_yaml_node *all = pace_yaml_get(pace_yaml_root(columns->yaml), "exchange");
        if (pace_word_listed(pace_yaml_get(all, "collective"), name) &&
            pace_collective_find(&exchange, pace_csv_cell(csv, 0, c)))
            return true;
    }
    return sized && ranked;
}

static const char *kind_of(const pace_columns *columns, const pace_csv *csv) {
    static const char *const scaling[] = {"model", "workers", "rate", NULL}, *const approach[] = {"approach", NULL};
    static const char *const step[] = {"model",    "hidden",      "layers",       "n_gpu",    "tp",         "pp", "dp",
                                       "params_b", "micro_batch", "global_batch", "sharding", "zero_stage", NULL};
    static const char *const job[] = {"flop", "memory_access_bytes", "weight_traffic_bytes", "cnodes"};
    unsigned jobs = 0;
    for (size_t i = 0; i < sizeof job / sizeof *job; i++)
        for (size_t c = 0; c < csv->columns; c++) jobs += pace_same_word(job[i], pace_csv_name(csv, c));
    if (jobs >= 2) return "job";
    if (names_kernel(columns, csv)) return "kernel";
    if (present(columns, "scaling", csv, scaling) == 3 && present(columns, "scaling", csv, approach)) return "scaling";
    if (present(columns, "step", csv, step) >= 3) return "step";
    if (pace_columns_layout(columns, PACE_OP_UNKNOWN, PACE_COMPOUND_NONE, NULL)) return "kernel";
    return names_exchange(columns, csv) ? "exchange" : "kernel";
}

/* Of the start of a table: its whole lines. */
static const char *kind_of_table(const char *text, size_t length) {
    pace_input *input;
    pace_csv csv;
    pace_columns columns;
    const char *kind = "kernel";
    if (pace_input_open_memory(&input, "table", text, length) != PACE_OK) return kind;
    if (pace_csv_read(&csv, input) == PACE_OK) {
        if (pace_columns_find(&columns, &csv) == PACE_OK) {
            kind = kind_of(&columns, &csv);
            pace_columns_free(&columns);
        }
        pace_csv_free(&csv);
    }
    pace_input_free(input);
    return kind;
}

static size_t read_head(char *out, const char *path) {
    pace_input *input;
    size_t length = 0, got = 1;
    if (pace_input_peek(&input, path) != PACE_OK) return 0;
    while (length < HEAD && got > 0 && pace_input_read(input, out + length, HEAD - length, &got) == PACE_OK)
        length += got;
    pace_input_free(input);
    if (length == HEAD)
        while (length > 0 && out[length - 1] != '\n') length--;
    out[length] = '\0';
    return length;
}

const char *pace_table_kind(const char *path) {
    const char *kind = "kernel";
    struct stat file;
    bool again = strcmp(path, "-") == 0 || (stat(path, &file) == 0 && S_ISREG(file.st_mode)); /* a pipe is read once */
    char *head = again ? pace_alloc(HEAD + 1, 1) : NULL;
    if (!head) return kind;
    size_t length = read_head(head, path);
    if (length > 0 && !memchr(head, '\0', length))
        kind = pace_log_kind_of(head) != PACE_LOG_NONE ? "exchange" : kind_of_table(head, length);
    pace_free(head);
    return kind;
}
