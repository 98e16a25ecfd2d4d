/* Fuzz targets use one thread: to start and to stop others takes longer than most inputs. */
#ifdef _OPENMP
#include <omp.h>

__attribute__((constructor)) static void use_one_thread(void) { omp_set_num_threads(1); }
#else
typedef int nothing_to_do; /* a file of C is not empty */
#endif
