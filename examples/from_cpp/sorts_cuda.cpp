// Sorts many rows with one call, on a GPU: arrays and workspace are the device's, the work is enqueued on a stream.
#include "rows.hpp"
#include <cuda_runtime.h>
#include <sort_bulk_cuda.h>

static void checked(cudaError_t error) {
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

int main() {
    auto rows = random_rows();
    const std::size_t size = rows.size() * sizeof(float);
    float *a = nullptr;
    void *workspace = nullptr;
    cudaStream_t stream;
    checked(cudaStreamCreate(&stream));
    checked(cudaMalloc(&a, size));
    checked(cudaMalloc(&workspace, sort_bulk_cuda_workspace(P)));
    checked(cudaMemcpyAsync(a, rows.data(), size, cudaMemcpyHostToDevice, stream));
    if (int error = sort_bulk_cuda(a, P, workspace, stream)) {
        std::fprintf(stderr, "%s\n", sort_bulk_cuda_error(error));
        return 1;
    }
    checked(cudaMemcpyAsync(rows.data(), a, size, cudaMemcpyDeviceToHost, stream));
    checked(cudaStreamSynchronize(stream));
    checked(cudaFree(workspace));
    checked(cudaFree(a));
    return compared(rows);
}
