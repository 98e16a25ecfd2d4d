/* Machines of catalog/machines.yaml in the report of `paceline machines`. Private to report/. */
#pragma once

#include "machine/machine.h"
#include "report/report.h"

/** A table "machines" of all there are. */
void pace_put_machines(pace_node *root, const pace_machine_catalog *catalog);

/** One machine in words. */
void pace_put_machine(pace_node *root, const pace_machine *machine);

/** By catalogue name, ignoring case; NULL when there is none. */
const pace_machine *pace_machine_of_name(const pace_machine_catalog *catalog, const char *name);
