#include "insight/steps/step_choice.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    int64_t first, last;
} range;

static const char *read_number(int64_t *out, const char *at, int64_t otherwise) {
    enum { MOST_DIGITS = 15 };
    const char *from = at;
    int64_t number = 0;
    while (pace_is_digit(*at) && at - from < MOST_DIGITS) number = number * 10 + (*at++ - '0');
    *out = at > from ? number : otherwise;
    return at;
}

static pace_status read_range(range *out, const char *text) {
    *out = (range){0, INT64_MAX};
    if (!text) return PACE_OK;
    const char *at = read_number(&out->first, text, 0);
    bool single = *at == '\0' && at > text, open = *at == ':';
    if (single) out->last = out->first;
    else if (open) at = read_number(&out->last, at + 1, INT64_MAX);
    if ((single || open) && *at == '\0' && out->last >= out->first && strcmp(text, ":") != 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "steps: expected numbers such as 3:4 (3 and 4), 3: or 3, found '%.80s'", text);
}

pace_status pace_step_choice_check(const pace_step_choice *choice) {
    range numbers;
    return read_range(&numbers, choice->numbers);
}

static pace_status none_chosen(const pace_step_choice *choice, const pace_marks *marks, const pace_names *names,
                               const char *path) {
    size_t count = marks->items.count;
    const char *field = choice->numbers ? "steps" : "skip";
    if (count == 0)
        return pace_fail(PACE_E_USAGE, "%s: %s: expected steps to choose from, found no annotated or repeated step",
                         field, path);
    int64_t first = pace_mark_number(marks, names, 0), last = pace_mark_number(marks, names, count - 1);
    if (choice->numbers && choice->skip == 0 && first == last)
        return pace_fail(PACE_E_USAGE, "steps: %s: expected its only step, %" PRId64 ", found '%.80s'", path, first,
                         choice->numbers);
    if (choice->numbers && choice->skip == 0)
        return pace_fail(PACE_E_USAGE,
                         "steps: %s: expected some of its steps, %" PRId64 " to %" PRId64 ", found '%.80s'", path,
                         first, last, choice->numbers);
    return pace_fail(PACE_E_USAGE, "%s: %s: expected a step to remain of its %zu, %" PRId64 " to %" PRId64, field, path,
                     count, first, last);
}

pace_status pace_step_choice_find(size_t *first, size_t *count, const pace_step_choice *choice, const pace_marks *marks,
                                  const pace_names *names, const char *path) {
    range numbers;
    PACE_TRY(read_range(&numbers, choice->numbers));
    size_t from = 0, until = marks->items.count;
    int64_t *number = pace_alloc(until, sizeof *number);
    if (!number) return PACE_E_MEMORY;
    pace_mark_numbers(number, marks, names);
    while (from < until && (from < choice->skip || number[from] < numbers.first)) from++;
    while (until > from && number[until - 1] > numbers.last) until--;
    pace_free(number);
    if (from == until) return none_chosen(choice, marks, names, path);
    *first = from;
    *count = until - from;
    return PACE_OK;
}

pace_status pace_step_choice_apply(pace_marks *marks, const pace_step_choice *choice, const pace_names *names,
                                   const char *path) {
    size_t first, count;
    if (!choice->numbers && choice->skip == 0) return PACE_OK;
    PACE_TRY(pace_step_choice_find(&first, &count, choice, marks, names, path));
    if (first + count < marks->items.count) marks->until_ns = marks->items.items[first + count].start_ns;
    memmove(marks->items.items, marks->items.items + first, count * sizeof *marks->items.items);
    marks->items.count = count;
    return PACE_OK;
}
