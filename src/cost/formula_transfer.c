/*
 * Copies between host and device, or between devices: bytes over the link. Pinned and pageable host memory differ in
 * the share of the link they reach (catalog/costs.yaml); a copy within the device ("d2d") reads and writes its memory.
 */
#include "cost/formula.h"

#include <string.h>

/* Bytes per second of one direction: measured, else the figure's share of the bus. */
static double link_rate(const pace_op *op, const pace_cost_where *where) {
    bool pageable = strstr(op->kind, "pageable") != NULL;
    double measured = pageable ? where->device->pcie_pageable_bytes_per_s : where->device->pcie_pinned_bytes_per_s;
    return measured > 0 ? measured : where->figure->memory * where->device->pcie_bytes_per_s;
}

bool pace_formula_transfer(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where) {
    bool within = strstr(op->kind, "d2d") != NULL;
    double rate = within ? where->figure->memory * where->memory_bytes_per_s : link_rate(op, where);
    if (!(op->read_bytes > 0) || !(rate > 0)) return false;
    parts->fixed_s = where->figure->fixed_s;
    parts->memory_s = (within ? 2 : 1) * op->read_bytes / rate;
    return true;
}
