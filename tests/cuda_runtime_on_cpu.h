/* The CUDA runtime for whole generated programs on the CPU.
 *
 * What is asked for in a stream is done as late as a device may: when the program waits for it, or at random moments
 * before, other streams' work in between. C2CU_SEED says which moments; 0: only when waited for. So what is not waited
 * for, or overwritten too early, shows as a wrong result. Copies outside of allocated memory abort, and so do
 * asynchronous ones of memory that is not pinned.
 */
#include "cuda_on_cpu.h"
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <random>

enum cudaError_t { cudaSuccess = 0, cudaErrorNotReady = 600 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
static inline const char *cudaGetErrorString(cudaError_t) { return "an error"; }
static cudaError_t c2cu_last = cudaSuccess; /* what is not ready counts as an error until it is asked for */
static inline cudaError_t cudaPeekAtLastError() { return c2cu_last; }
static inline cudaError_t cudaGetLastError() {
    cudaError_t last = c2cu_last;
    c2cu_last = cudaSuccess;
    return last;
}

struct CUstream_st {
    std::deque<std::function<void()>> waiting;
};
using cudaStream_t = CUstream_st *;
static std::deque<CUstream_st> c2cu_streams(1); /* the first is the default stream */

static void c2cu_do_one(CUstream_st *s) {
    s->waiting.front()();
    s->waiting.pop_front();
}
static int c2cu_seed() {
    const char *seed = getenv("C2CU_SEED");
    return seed ? atoi(seed) : 0;
}
static std::mt19937 c2cu_random(c2cu_seed());
/* Some work of some streams. */
static void c2cu_meanwhile() {
    if (!c2cu_seed()) return;
    for (int n = c2cu_random() % 4; n > 0; n--) {
        CUstream_st *s = &c2cu_streams[c2cu_random() % c2cu_streams.size()];
        if (!s->waiting.empty()) c2cu_do_one(s);
    }
}
static void c2cu_wait(CUstream_st *s) {
    while (!s->waiting.empty()) {
        c2cu_meanwhile();
        if (!s->waiting.empty()) c2cu_do_one(s);
    }
}

static std::map<char *, size_t> c2cu_device_memory, c2cu_pinned;
static void c2cu_inside(const std::map<char *, size_t> &memory, const void *at, size_t bytes) {
    auto next = memory.upper_bound((char *)at);
    if (next == memory.begin()) abort();
    auto [start, size] = *std::prev(next);
    if ((char *)at + bytes > start + size) abort();
}
static cudaError_t c2cu_allocate(std::map<char *, size_t> &memory, void **at, size_t bytes) {
    *at = aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset(*at, 0x5a, bytes);
    memory[(char *)*at] = bytes;
    return cudaSuccess;
}
static inline cudaError_t cudaMalloc(void **at, size_t bytes) { return c2cu_allocate(c2cu_device_memory, at, bytes); }
static inline cudaError_t cudaMallocHost(void **at, size_t bytes) { return c2cu_allocate(c2cu_pinned, at, bytes); }

static inline cudaError_t cudaStreamCreate(cudaStream_t *s) {
    *s = &c2cu_streams.emplace_back();
    return cudaSuccess;
}
static inline cudaError_t cudaStreamQuery(cudaStream_t s) {
    c2cu_meanwhile();
    return s->waiting.empty() ? cudaSuccess : (c2cu_last = cudaErrorNotReady);
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    c2cu_wait(s);
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSynchronize() {
    for (auto &s : c2cu_streams) c2cu_wait(&s);
    return cudaSuccess;
}

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t s) {
    c2cu_meanwhile();
    c2cu_inside(c2cu_device_memory, kind == cudaMemcpyHostToDevice ? to : from, n);
    c2cu_inside(c2cu_pinned, kind == cudaMemcpyHostToDevice ? from : to, n);
    s->waiting.push_back([=] { memcpy(to, from, n); });
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    cudaDeviceSynchronize();
    c2cu_inside(c2cu_device_memory, kind == cudaMemcpyHostToDevice ? to : from, n);
    memcpy(to, from, n);
    return cudaSuccess;
}
static inline cudaError_t cudaMemset(void *to, int byte, size_t n) {
    cudaDeviceSynchronize();
    c2cu_inside(c2cu_device_memory, to, n);
    memset(to, byte, n);
    return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void *to, int byte, size_t n, cudaStream_t s) {
    c2cu_meanwhile();
    c2cu_inside(c2cu_device_memory, to, n);
    s->waiting.push_back([=] { memset(to, byte, n); });
    return cudaSuccess;
}
enum cudaLimit { cudaLimitStackSize, cudaLimitMallocHeapSize };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrMaxThreadsPerMultiProcessor };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
template <typename F> static cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int) { return cudaSuccess; }
static inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
static const unsigned c2cu_at_once = 3; /* multiprocessors, of a block each */
static inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int) {
    *value = which == cudaDevAttrMultiProcessorCount ? c2cu_at_once : 64;
    return cudaSuccess;
}
static inline cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
template <typename Kernel>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int, size_t) {
    *blocks = 1;
    return cudaSuccess;
}
static inline cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    *free = *total = 8ul << 30;
    return cudaSuccess;
}
template <typename T> static cudaError_t cudaGetSymbolAddress(void **at, T &symbol) {
    *at = (void *)&symbol;
    c2cu_device_memory[(char *)*at] = sizeof symbol;
    return cudaSuccess;
}
template <typename T> static cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t n) {
    if (n > sizeof symbol) abort();
    cudaDeviceSynchronize();
    memcpy((void *)&symbol, from, n);
    return cudaSuccess;
}
template <typename T> static cudaError_t cudaMemcpyFromSymbol(void *to, T &symbol, size_t n) {
    if (n > sizeof symbol) abort();
    cudaDeviceSynchronize();
    memcpy(to, (void *)&symbol, n);
    return cudaSuccess;
}

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
/* A text's launches, kernel<<<grid, threads, shared_bytes, stream>>>(arguments). ``blocks``: of a kernel whose threads
 * wait for each other, so many are at work at once; 0: no thread waits for another. */
template <unsigned blocks, typename... P, typename... A>
static void c2cu_launched(dim3 grid, unsigned threads, size_t shared_bytes, cudaStream_t s, void (*kernel)(P...),
                          A... arguments) {
    c2cu_meanwhile();
    (s ? s : &c2cu_streams[0])->waiting.push_back([=] {
        if constexpr (blocks > 0) {
            c2cu_grid({grid.x, grid.y, grid.z}, threads, shared_bytes, blocks, [=] { kernel(arguments...); });
            return;
        }
        gridDim = {grid.x, grid.y, grid.z}, blockDim.x = threads;
        for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
            for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) {
                try {
                    kernel(arguments...);
                } catch (c2cu_gone) {
                }
            }
    });
}
#define c2cu_launch_in c2cu_launched<C2CU_BLOCKS>
