/* A program outside of Paceline's tree: asks for a device of the catalogue and prints the first line of the answer, and
 * reads a value and a column of another. */
#include <paceline/calibrate.h>
#include <paceline/paceline.h>

#include <stdio.h>
#include <string.h>

typedef struct {
    char text[64];
    size_t length;
} first_line;

static int take(void *context, const void *bytes, size_t length) {
    first_line *line = context;
    for (const char *at = bytes;
         length-- && line->length + 1 < sizeof line->text && !memchr(line->text, '\n', line->length);)
        line->text[line->length++] = *at++;
    return 0;
}

static pace_status ask_device(pace_answer **out, pace_context *context) {
    pace_question *question;
    pace_status status = pace_question_new(&question, context, "machines");
    if (status != PACE_OK) return status;
    status = pace_question_add_input(question, "h100-80-sxm");
    if (status == PACE_OK) status = pace_ask(out, context, question);
    pace_question_free(question);
    return status;
}

static pace_status ask_exchange(pace_answer **out, pace_context *context) {
    pace_question *question;
    pace_status status = pace_question_new(&question, context, "predict");
    if (status != PACE_OK) return status;
    status = pace_question_set(question, "kind", "exchange");
    if (status == PACE_OK) status = pace_question_set(question, "on", "dgx-h100*2");
    if (status == PACE_OK) status = pace_question_set(question, "bytes", "1M,2M");
    if (status == PACE_OK) status = pace_ask(out, context, question);
    pace_question_free(question);
    return status;
}

/* A row per size that was asked. */
static int check_columns(const pace_answer *answer) {
    const pace_answer_table *table = pace_answer_table_at(answer, 0);
    return table && table->rows == 2 && table->column_count > 3 && table->columns[0].length == 2;
}

int main(void) {
    pace_context *context = NULL;
    pace_answer *device = NULL, *exchange = NULL;
    first_line line = {{0}, 0};
    pace_status status = pace_context_open(&context);
    if (status == PACE_OK) status = ask_device(&device, context);
    if (status == PACE_OK) status = pace_answer_write(device, PACE_FORMAT_TABLE, NULL, take, &line);
    if (status == PACE_OK) status = ask_exchange(&exchange, context);
    int good = status == PACE_OK && check_columns(exchange);
    if (good) printf("%s %s", pace_version(), line.text);
    else fprintf(stderr, "%s\n", status == PACE_OK ? "wrong columns" : pace_message());
    pace_answer_free(exchange);
    pace_answer_free(device);
    pace_context_free(context);
    return !good;
}
