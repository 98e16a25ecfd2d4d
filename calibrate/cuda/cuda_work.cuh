/* What one point is on a CUDA device: tensors in device memory, and a function that queues one run of it. */
#ifndef PACE_CALIBRATE_CUDA_WORK_CUH
#define PACE_CALIBRATE_CUDA_WORK_CUH

#include "../backend.h"

#include <cuda_runtime.h>

enum { CUDA_TENSORS = 5 };

struct cuda_work {
    pace_point point;
    int device, peer_device;
    cudaStream_t stream;
    void *tensor[CUDA_TENSORS]; /* on the device */
    void *host;                 /* page-locked or ordinary, for transfers */
    void *peer;                 /* on the other device */
    bool pinned;
    /* Queues one run; false when that cannot be done. */
    bool (*run)(cuda_work *work);
    void *plan; /* a library's */
    void (*release_plan)(void *plan);
};

/* Allocates tensor `index` of so many elements of the point's type, filled with numbers in [-1, 1). */
bool cuda_make_tensor(cuda_work *work, int index, double elements);
/* Row numbers below `rows`, 32 bits each. */
bool cuda_make_indices(cuda_work *work, int index, double count, double rows);

/* Each sets work->run when the point is one of its own: our kernels, cuBLAS, cuDNN, copies. */
pace_probe_status cuda_prepare_kernel(cuda_work *work, char *message);
pace_probe_status cuda_prepare_product(cuda_work *work, char *message);
pace_probe_status cuda_prepare_convolution(cuda_work *work, char *message);
pace_probe_status cuda_prepare_transfer(cuda_work *work, char *message);

/* Versions of the libraries, for the report. */
void cuda_libraries(char *text, size_t size);

/* "no memory for 3e9 bytes", and what the runtime says. */
pace_probe_status cuda_failed(char *message, const char *what);

#endif
