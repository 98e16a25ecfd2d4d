#include "exchange/program_by_name.h"
#include "exchange/algorithms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has_program(const pace_exchange_algorithm *row, pace_collective collective) {
    return row->program && row->collectives >> collective & 1;
}

static pace_status unknown(pace_collective collective, const char *algorithm) {
    char known[512] = "";
    for (size_t i = 0; i < pace_exchange_algorithm_count; i++) {
        const pace_exchange_algorithm *row = &pace_exchange_algorithms[i];
        size_t used = strlen(known);
        if (has_program(row, collective))
            snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", row->name);
    }
    return pace_fail(PACE_E_INPUT, "no program does %s by '%s'; there are: %s", pace_collective_rows[collective].name,
                     algorithm, known);
}

pace_status pace_program_build(pace_program *out, const char *collective, const char *algorithm,
                               const pace_program_question *question) {
    pace_program_question asked = *question;
    if (!pace_collective_find(&asked.collective, collective))
        return pace_fail(PACE_E_INPUT, "there is no collective '%s'", collective);
    int row = pace_exchange_algorithm_find(algorithm);
    if (row < 0 || !has_program(&pace_exchange_algorithms[row], asked.collective))
        return unknown(asked.collective, algorithm);
    if (!(asked.bytes >= 0) || isinf(asked.bytes))
        return pace_fail(PACE_E_INPUT, "expected a size of at least 0 bytes, found %g", asked.bytes);
    pace_program program;
    if (asked.viewer > asked.ranks)
        return pace_fail(PACE_E_INPUT, "expected a viewer below %u ranks, found %u", asked.ranks, asked.viewer - 1);
    PACE_TRY(pace_program_init(&program, asked.ranks + pace_exchange_algorithms[row].in_switch));
    program.viewed = asked.viewer > 0;
    pace_status status = pace_exchange_algorithms[row].program(&program, &asked);
    if (status == PACE_OK) status = pace_program_finish(&program);
    return PACE_GIVE(out, program, status, pace_program_free(&program));
}
