/* A program outside of Paceline's tree: asks for a device of the catalogue and prints the first line of the answer. */
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

int main(void) {
    pace_context *context;
    pace_report *report;
    first_line line = {{0}, 0};
    if (pace_context_open(&context) != PACE_OK || pace_machines(&report, context, "h100-80-sxm") != PACE_OK ||
        pace_report_write(report, PACE_FORMAT_TABLE, NULL, take, &line) != PACE_OK) {
        fprintf(stderr, "%s\n", pace_message());
        return 1;
    }
    pace_report_free(report);
    pace_context_free(context);
    printf("%s %s", pace_version(), line.text);
    return 0;
}
