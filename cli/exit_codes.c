#include "exit_codes.h"

#include "arguments.h"

const cli_exit_code cli_exit_codes[] = {
    {CLI_DONE, "done"},
    {CLI_NO, "the answer is no: a bar or a limit is missed, a step does not fit into memory, no row has an answer"},
    {CLI_USAGE, "the question is wrong: an option, a value, a combination"},
    {CLI_INPUT, "an input or output: not there, damaged, of another format, not to be written; --strict and a warning"},
    {CLI_MISSING, "missing here: a name of the catalogue, a package, a module"},
    {CLI_MEMORY, "out of memory"},
    {CLI_READER_GONE, "the reader of the output has closed it"},
    {-1, 0},
};

const cli_variable cli_variables[] = {
    {"PACELINE_CATALOG", "a folder whose files take the place of the catalogue's"},
    {"PACELINE_MODULES", "the folder of the modules: CUDA, MPI, oneDNN, ..."},
    {"TMPDIR", "where train, validate and fleet under mpirun make folders of scratch (/tmp)"},
    {"NO_COLOR", "set to anything: no colours"},
    {0, 0},
};
