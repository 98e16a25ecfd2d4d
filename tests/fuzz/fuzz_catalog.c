/*
 * Fuzz target of the catalogue's files that a directory of the user's (PACELINE_CATALOG) may replace: the first byte
 * says which, the rest is the file. It is read, or refused with a message.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost/figures.h"
#include "cost/host_costs_catalog.h"
#include "exchange/approaches.h"
#include "exchange/nccl.h"
#include "fleet/population.h"
#include "machine/kernel_class.h"
#include "machine/machine.h"
#include "machine/topology_xml.h"
#include "plan/framework.h"
#include "ask/rows/columns.h"
#include "source/jobs/job_columns.h"
#include "source/jobs/job_names.h"
#include "catalog_of_tests.h"
#include "fuzz/scratch_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static pace_status approaches(void) {
    pace_approaches found;
    PACE_TRY(pace_approaches_load(&found, test_catalog()));
    for (size_t i = 0; i < found.rows.count; i++)
        if (!*found.rows.items[i].name) abort();
    pace_approaches_free(&found);
    return PACE_OK;
}

static pace_status columns(void) {
    static const char table[] =
        "gpu,op,dtype,m,n,k,batch,input size,kernel time [us],pass,layout,shape\na,gemm,fp16,1,2,3,4,5,6,fwd,nt,1x2\n";
    pace_input *input;
    pace_csv csv;
    pace_columns found;
    pace_op_words words;
    pace_op op = {0};
    PACE_TRY(pace_input_open_memory(&input, "table", table, sizeof table - 1));
    pace_status status = pace_csv_read(&csv, input);
    pace_input_free(input);
    if (status != PACE_OK) return status;
    status = pace_columns_find(&found, test_catalog(), &csv);
    if (status == PACE_OK) {
        (void)pace_columns_dtype(&op, &found, "fp16");
        (void)pace_columns_op(&words, &found, "gemm");
        (void)pace_columns_pass(&words, &found, "fwd");
        for (int family = 0; family < PACE_OP_FAMILIES; family++)
            (void)pace_columns_layout(&found, (pace_op_family)family, PACE_COMPOUND_NONE, NULL);
    }
    pace_csv_free(&csv);
    return status;
}

static pace_status kernels(void) {
    pace_kernel_classes *found;
    PACE_TRY(pace_kernel_classes_load(&found, test_catalog()));
    if (!pace_kernel_classify(found, "ncclDevKernel_AllReduce_Sum").family) abort();
    if (!pace_kernel_classify(found, "ampere_sgemm_128x64_nn").family) abort();
    pace_kernel_classes_free(found);
    return PACE_OK;
}

static pace_status costs(void) {
    pace_cost_figures found;
    PACE_TRY(pace_cost_figures_load(&found, test_catalog()));
    pace_cost_figures_free(&found);
    return PACE_OK;
}

static pace_status frameworks(void) {
    pace_host_costs found;
    pace_launch_costs launch;
    pace_profiler_figures profiler;
    PACE_TRY(pace_profiler_figures_load(&profiler, test_catalog()));
    PACE_TRY(pace_host_costs_init(&found));
    pace_status status = pace_host_costs_default(&found, &launch, test_catalog(), NULL, NULL);
    pace_host_costs_free(&found);
    return status;
}

static pace_status job_columns(void) {
    pace_job_limits limits;
    pace_job_names names;
    const char *unit;
    double factor;
    PACE_TRY(pace_job_limits_load(&limits, test_catalog()));
    PACE_TRY(pace_job_names_load(&names, test_catalog()));
    (void)pace_job_name_find(&factor, &unit, &names, "mem_access (GB)");
    return PACE_OK;
}

static pace_status population(void) {
    pace_population found;
    PACE_TRY(pace_population_load(&found, test_catalog()));
    return PACE_OK;
}

static pace_status nccl(void) {
    static const char *const lines[] = {"2.3", "2.7"};
    pace_nccl found;
    for (int i = 0; i < 2; i++) PACE_TRY(pace_nccl_load(&found, test_catalog(), lines[i], 70 + 10 * i));
    return PACE_OK;
}

static pace_status networks(void) {
    const pace_machine machine = {.name = "two", .devices = 8, .nodes = 16, .nics = 8};
    pace_network network;
    PACE_TRY(pace_network_parse(&network, test_catalog(), &machine, "fat-tree:2:1"));
    if (network.shape[0] < 1) abort();
    return pace_network_parse(&network, test_catalog(), &machine, "rails");
}

static pace_status steps(void) {
    pace_frameworks found;
    PACE_TRY(pace_frameworks_load(&found, test_catalog()));
    if (found.count < 1 || !pace_frameworks_find(&found, "pytorch")) abort();
    (void)pace_frameworks_attention(&found, "h100-80-sxm", "fsdp");
    return PACE_OK;
}

static pace_status system_names(void) {
    pace_machine machine;
    PACE_TRY(pace_machine_named(&machine, test_catalog(), "Tesla V100-SXM2", 1));
    return pace_machine_check(&machine);
}

static pace_status topology(void) {
    static const char xml[] =
        "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">"
        "<pci busid=\"0000:07:00.0\" class=\"0x030200\" link_speed=\"8 GT/s\" link_width=\"16\">"
        "<gpu dev=\"0\" sm=\"70\" rank=\"0\"><nvlink target=\"0000:0a:00.0\" count=\"2\" tclass=\"0x030200\"/></gpu></pci>"
        "<pci busid=\"0000:0a:00.0\" class=\"0x030200\" link_speed=\"8 GT/s\" link_width=\"16\">"
        "<gpu dev=\"1\" sm=\"70\" rank=\"1\"><nvlink target=\"0000:07:00.0\" count=\"2\" tclass=\"0x030200\"/></gpu></pci>"
        "<nic><net name=\"mlx5_0\" dev=\"0\" speed=\"100000\"/></nic></cpu></system>";
    char text[sizeof xml];
    pace_machine machine;
    memcpy(text, xml, sizeof xml);
    PACE_TRY(pace_topology_xml_parse(&machine, test_catalog(), "box.xml", text, sizeof xml - 1));
    return pace_machine_check(&machine);
}

static const struct {
    char letter;
    const char *file;
    pace_status (*read)(void);
} files[] = {
    {'a', "approaches.yaml", approaches},
    {'c', "columns.yaml", columns},
    {'f', "frameworks.yaml", frameworks},
    {'h', "communication.yaml", kernels},
    {'j', "job_columns.yaml", job_columns},
    {'k', "kernels.yaml", kernels},
    {'l', "nccl.yaml", nccl},
    {'n', "networks.yaml", networks},
    {'o', "costs.yaml", costs},
    {'p', "job_population.yaml", population},
    {'s', "steps.yaml", steps},
    {'t', "topology.yaml", topology},
    {'y', "system_names.yaml", system_names},
};

static void path_of(char *out, size_t size, const char *file) {
    if (setenv("PACELINE_CATALOG", make_scratch_folder(), 1) != 0) abort();
    snprintf(out, size, "%s/%s", scratch_folder, file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (size == 0 || data[0] != files[i].letter) continue;
        path_of(path, sizeof path, files[i].file);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(data + 1, 1, size - 1, file) != size - 1 || fclose(file) != 0) abort();
        pace_catalog_forget(test_catalog(), files[i].file);
        pace_status status = files[i].read();
        if (status != PACE_OK && (!*pace_message() || status == PACE_E_INTERNAL)) abort();
        unlink(path);
        pace_catalog_forget(test_catalog(), files[i].file);
    }
    return 0;
}
