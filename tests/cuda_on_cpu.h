/* Enough of CUDA for generated kernels to run on the CPU: a block's threads are host threads, blocks go in turn. */
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
using namespace std;

#define __device__
#define __global__
#define __constant__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __builtin_assume(...)

struct uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
/* A device faults on what is not aligned. */
template <typename T> static inline const T *c2cu_aligned(const T *p) {
    if ((uintptr_t)p % sizeof(T)) abort();
    return p;
}
template <typename T> static inline T __ldg(const T *p) { return *c2cu_aligned(p); }
template <typename T> static inline T __ldcs(const T *p) { return *c2cu_aligned(p); }
template <typename T> static inline void __stcs(T *p, T x) { *const_cast<T *>(c2cu_aligned(p)) = x; }

struct c2cu_index {
    unsigned x = 0, y = 0, z = 0;
};
static thread_local c2cu_index threadIdx;
static c2cu_index blockIdx, blockDim, gridDim;
static barrier<> *c2cu_barrier;
static inline void __syncthreads() { c2cu_barrier->arrive_and_wait(); }
static vector<unique_ptr<barrier<>>> c2cu_warps;
static inline void __syncwarp() { c2cu_warps[threadIdx.x / 32]->arrive_and_wait(); }

static unsigned c2cu_votes[32];
static inline unsigned __ballot_sync(unsigned, int mine) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) c2cu_votes[threadIdx.x / 32] = 0;
    __syncwarp();
    if (mine) __atomic_fetch_or(&c2cu_votes[threadIdx.x / 32], 1u << threadIdx.x % 32, __ATOMIC_SEQ_CST);
    __syncwarp();
    return c2cu_votes[threadIdx.x / 32];
}
static int c2cu_said;
static inline int __syncthreads_or(int mine) {
    __syncthreads();
    if (threadIdx.x == 0) c2cu_said = 0;
    __syncthreads();
    if (mine) __atomic_store_n(&c2cu_said, 1, __ATOMIC_SEQ_CST);
    __syncthreads();
    return c2cu_said;
}

template <typename T, typename F> static inline T c2cu_bits(F from) {
    T to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline float __int_as_float(int x) { return c2cu_bits<float>(x); }
static inline double __longlong_as_double(long long x) { return c2cu_bits<double>(x); }
static inline float __uint_as_float(unsigned x) { return c2cu_bits<float>(x); }
static inline int __float_as_int(float x) { return c2cu_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return c2cu_bits<unsigned>(x); }
static inline long long __double_as_longlong(double x) { return c2cu_bits<long long>(x); }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }

/* Launch a kernel of the runtime's form; `barriers`: its threads wait for each other. A block does `lanes` inputs. */
template <typename S>
static void c2cu_launch(void (*kernel)(const S *, long long, void *), const S *slot, long long p, void *memory, int lanes,
                        int threads, bool barriers) {
    gridDim.x = (unsigned)((p + lanes - 1) / lanes);
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) {
        if (!barriers) {
            for (threadIdx.x = 0; (int)threadIdx.x < threads; threadIdx.x++) kernel(slot, p, memory);
            continue;
        }
        barrier<> all(threads);
        c2cu_barrier = &all;
        c2cu_warps.clear();
        for (int t = 0; t < threads; t += 32) c2cu_warps.push_back(make_unique<barrier<>>(min(32, threads - t)));
        vector<thread> running;
        for (int t = 0; t < threads; t++)
            running.emplace_back([=] {
                threadIdx.x = t;
                kernel(slot, p, memory);
            });
        for (auto &t : running) t.join();
    }
}
