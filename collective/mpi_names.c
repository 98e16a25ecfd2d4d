#include "mpi_names.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

/* Integers of other names have the size that C gives them on this machine; unsigned ones differ in order. */
bool pace_element_of(pace_element *out, MPI_Datatype type) {
    if (type == MPI_FLOAT) *out = PACE_ELEMENT_F32;
    else if (type == MPI_DOUBLE) *out = PACE_ELEMENT_F64;
    else if (type == MPI_INT || type == MPI_INT32_T) *out = PACE_ELEMENT_I32;
    else if (type == MPI_INT64_T || type == MPI_LONG_LONG_INT) *out = PACE_ELEMENT_I64;
    else if (type == MPI_LONG && sizeof(long) == sizeof(int64_t)) *out = PACE_ELEMENT_I64;
    else return false;
    return true;
}

bool pace_reduction_of(pace_reduction *out, MPI_Op op) {
    if (op == MPI_SUM) *out = PACE_REDUCTION_SUM;
    else if (op == MPI_MIN) *out = PACE_REDUCTION_MIN;
    else if (op == MPI_MAX) *out = PACE_REDUCTION_MAX;
    else if (op == MPI_PROD) *out = PACE_REDUCTION_PROD;
    else return false;
    return true;
}

bool pace_is_plain(MPI_Datatype type) {
    const MPI_Datatype plain[] = {MPI_FLOAT,  MPI_DOUBLE,   MPI_INT,      MPI_BYTE,     MPI_CHAR,    MPI_LONG,
                                  MPI_INT8_T, MPI_INT16_T,  MPI_INT32_T,  MPI_INT64_T,  MPI_UINT8_T, MPI_UINT16_T,
                                  MPI_SHORT,  MPI_UINT32_T, MPI_UINT64_T, MPI_UNSIGNED, MPI_C_BOOL,  MPI_UNSIGNED_CHAR};
    for (size_t i = 0; i < PACE_COUNT(plain); i++)
        if (type == plain[i]) return true;
    return false;
}
