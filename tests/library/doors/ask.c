/* The door of C programs: reads questions from standard input, a line each of words between tabs: the verb, the value
 * or the column that is wanted (three of them), fields as NAME=TEXT, inputs. Writes a line for each: the figures, or
 * "error" and the message. */
#include <paceline/paceline.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIGURES = 3 };

static double column_of(const pace_answer *answer, const char *name) {
    const pace_answer_table *table = pace_answer_table_at(answer, 0);
    for (size_t i = 0; table && i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0 && table->columns[i].length == 1 && table->columns[i].reals)
            return table->columns[i].reals[0];
    return NAN;
}

static pace_status figure_of(double *out, const pace_answer *answer, const char *path) {
    if (*path != '@') return pace_answer_value(answer, path, out);
    *out = column_of(answer, path + 1);
    return PACE_OK;
}

static pace_status set_word(pace_question *question, char *word) {
    char *equal = strchr(word, '=');
    if (!equal) return pace_question_add_input(question, word);
    *equal = '\0';
    return pace_question_set(question, word, equal + 1);
}

static pace_status ask(double figures[FIGURES], pace_context *context, char *line) {
    pace_question *question = NULL;
    pace_answer *answer = NULL;
    char *rest, *paths[FIGURES], *word = strtok_r(line, "\t\n", &rest);
    for (int i = 0; i < FIGURES; i++) paths[i] = strtok_r(NULL, "\t\n", &rest);
    pace_status status = pace_question_new(&question, context, word);
    while (status == PACE_OK && (word = strtok_r(NULL, "\t\n", &rest))) status = set_word(question, word);
    if (status == PACE_OK) status = pace_ask(&answer, context, question);
    for (int i = 0; status == PACE_OK && i < FIGURES; i++) status = figure_of(&figures[i], answer, paths[i]);
    pace_answer_free(answer);
    pace_question_free(question);
    return status;
}

int main(void) {
    char line[4096];
    pace_context *context = NULL;
    if (pace_context_open(&context) != PACE_OK) return fprintf(stderr, "%s\n", pace_message()), 1;
    while (fgets(line, sizeof line, stdin)) {
        double figures[FIGURES];
        if (ask(figures, context, line) == PACE_OK) printf("%.17g %.17g %.17g\n", figures[0], figures[1], figures[2]);
        else printf("error %s\n", pace_message());
    }
    pace_context_free(context);
    return 0;
}
