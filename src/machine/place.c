#include "machine/place.h"
#include "base/text.h"

#include <string.h>

bool pace_place_has_figures(const char *text) {
    for (const char *c = strchr(text, '='); c; c = strchr(c + 1, '=')) {
        bool key = c > text && (pace_is_alnum(c[-1]) || c[-1] == '_');
        if (key && c[1] != '=') return true;
    }
    return false;
}

pace_status pace_place_asked(const pace_device **out, pace_machine *machine, bool *joined, pace_device_catalog *devices,
                             const char *text) {
    pace_status status = pace_machine_asked(machine, devices->documents, text);
    *joined = status == PACE_OK;
    if (*joined) return pace_device_to_run_on(out, devices, machine->device);
    if (pace_machine_is_meant(devices->documents, text)) return status;
    return pace_device_to_run_on(out, devices, text);
}
