#include "source/jobs/job_cells.h"
#include "base/memory.h"

#include <string.h>

pace_job_text pace_job_trimmed(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return (pace_job_text){at, (size_t)(end - at)};
}

bool pace_job_is_nothing(pace_job_text text) {
    static const char *const words[] = {"", "nan", "NaN", "NA", "null", "NULL", "None", "\\N"};
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (strlen(words[i]) == text.length && memcmp(words[i], text.data, text.length) == 0) return true;
    return false;
}

bool pace_job_find_architecture(pace_job_architecture *out, pace_job_text name) {
    for (int i = 0; i < PACE_JOB_ARCHITECTURES; i++) {
        const char *usual = pace_job_architecture_names[i];
        if (name.length == strlen(usual) && memcmp(usual, name.data, name.length) == 0) {
            *out = (pace_job_architecture)i;
            return true;
        }
    }
    return pace_job_architecture_find(out, name.data, name.length);
}
