#include "report/predict/predict_parts.h"
#include "base/text.h"

#include <string.h>

void pace_put_machine_note(pace_node *root, const pace_machine *machine) {
    pace_node_note(root, "Machine figures: %s (confidence %s).", machine->source, machine->confidence);
    pace_put_called_note(root, machine);
}

void pace_put_called_note(pace_node *root, const pace_machine *machine) {
    if (*machine->called) pace_node_note(root, "\"%s\" was read as the machine %s.", machine->called, machine->name);
}

void pace_put_pieces_note(pace_node *root, const char *text) {
    char plain[64];
    pace_squeeze(plain, sizeof plain, text ? text : "", "");
    if (strstr(plain, "alltoallv"))
        pace_node_note(
            root,
            "The alltoallv is assumed to send equal pieces between all ranks. With unequal pieces, the busiest rank "
            "sets the time.");
}

void pace_put_curves_note(pace_node *root, const pace_predict_fits *fits) {
    if (fits->curves.count)
        pace_node_note(root, "Exchanges take what the measured curves of %s say (%s).", fits->curves.items[0]->system,
                       fits->exchanges_path);
}
