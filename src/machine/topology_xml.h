/*
 * NCCL's topology file (NCCL_TOPO_DUMP_FILE writes it, NCCL_TOPO_FILE reads it; graph/xml.cc): <system> of <cpu> of
 * <pci> of <gpu> with <nvlink> or <xgmi>, and of <nic> with <net>. What it does not say in figures is
 * catalog/topology.yaml.
 */
#pragma once

#include "machine/machine.h"

/** One node. Its fastest NICs join nodes; slower ones are left out, and `source` says so. PACE_E_INPUT with name:line:
 * what is no XML, kinds of elements, devices, links and NICs that are not known, rates of 0 or less, devices that are
 * not connected. `text` ends with a NUL and is changed. */
pace_status pace_topology_xml_parse(pace_machine *out, pace_catalog *catalog, const char *name, char *text,
                                    size_t length) PACE_MUST_CHECK;

/** The same of a file. PACE_E_IO. */
pace_status pace_topology_xml_load(pace_machine *out, pace_catalog *catalog, const char *path) PACE_MUST_CHECK;
