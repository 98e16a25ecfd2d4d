/* Which of MPI's handles mean something here, for the library that takes over MPI calls. */
#pragma once

#include "paceline/collective.h"

#include <mpi.h>
#include <stdbool.h>

/** The element type of a datatype that reductions are done for. */
bool pace_element_of(pace_element *out, MPI_Datatype type);
bool pace_reduction_of(pace_reduction *out, MPI_Op op);
/** Whether elements of a datatype lie in memory as they are sent, without gaps. */
bool pace_is_plain(MPI_Datatype type);
