#include "report/machine_note.h"

void pace_put_machine_note(pace_node *root, const pace_machine *machine) {
    pace_node_note(root, "Machine figures: %s (confidence %s).", machine->source, machine->confidence);
    pace_put_called_note(root, machine);
}

void pace_put_called_note(pace_node *root, const pace_machine *machine) {
    if (*machine->called) pace_node_note(root, "\"%s\" was read as the machine %s.", machine->called, machine->name);
}
