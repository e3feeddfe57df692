/* Enough of CUDA for generated kernels to run on the CPU: a block's threads are host threads, blocks go in turn. */
#include <atomic>
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
#define __grid_constant__
#define __constant__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline
#define __noinline__
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
template <typename T> static inline T __ldcg(const T *p) { return *c2cu_aligned(p); }
template <typename T> static inline T __ldcs(const T *p) { return *c2cu_aligned(p); }
template <typename T> static inline void __stcs(T *p, T x) { *const_cast<T *>(c2cu_aligned(p)) = x; }

struct c2cu_index {
    unsigned x = 0, y = 0, z = 0;
};
static thread_local c2cu_index threadIdx, blockIdx;
static c2cu_index blockDim, gridDim;
static thread_local barrier<> *c2cu_barrier;
static thread_local unsigned char *c2cu_shared_memory; /* of a block, where several go at once */
static inline void __threadfence() { atomic_thread_fence(memory_order_seq_cst); }
static inline void __nanosleep(unsigned) { this_thread::yield(); }
static inline unsigned long long atomicAdd(unsigned long long *p, unsigned long long n) {
    return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST);
}
static inline void __syncthreads() { c2cu_barrier->arrive_and_wait(); }
struct c2cu_team { /* of a block: its warps, and how they vote */
    vector<unique_ptr<barrier<>>> warps;
    unsigned votes[32];
    c2cu_team(int threads) {
        for (int t = 0; t < threads; t += 32) warps.push_back(make_unique<barrier<>>(min(32, threads - t)));
    }
};
static thread_local c2cu_team *c2cu_mine;
static inline void __syncwarp() { c2cu_mine->warps[threadIdx.x / 32]->arrive_and_wait(); }

static inline unsigned __ballot_sync(unsigned, int mine) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) c2cu_mine->votes[threadIdx.x / 32] = 0;
    __syncwarp();
    if (mine) __atomic_fetch_or(&c2cu_mine->votes[threadIdx.x / 32], 1u << threadIdx.x % 32, __ATOMIC_SEQ_CST);
    __syncwarp();
    return c2cu_mine->votes[threadIdx.x / 32];
}
static inline int __all_sync(unsigned all, int mine) { return !__ballot_sync(all, !mine); }
static int c2cu_said;
static inline int __syncthreads_or(int mine) {
    __syncthreads();
    if (threadIdx.x == 0) c2cu_said = 0;
    __syncthreads();
    if (mine) __atomic_store_n(&c2cu_said, 1, __ATOMIC_SEQ_CST);
    __syncthreads();
    return c2cu_said;
}
static inline int __syncthreads_and(int mine) { return !__syncthreads_or(!mine); }

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
static inline int __vimin3_s32(int a, int b, int c) { return min(a, min(b, c)); }
static inline int __vimax3_s32(int a, int b, int c) { return max(a, max(b, c)); }
static inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) {
    const unsigned low = (unsigned short)(a + b), high = (unsigned short)((a >> 16) + (b >> 16));
    return min(low, c & 0xffff) | min(high, c >> 16) << 16;
}
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned which) {
    unsigned long long from = (unsigned long long)y << 32 | x, to = 0;
    for (int b = 0; b < 4; b++) to |= (from >> 8 * (which >> 4 * b & 7) & 255) << 8 * b;
    return (unsigned)to;
}
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }

/* Launch a kernel of the runtime's form; `barriers`: its threads wait for each other. A block does `lanes` inputs. */
template <typename S>
static void c2cu_launch(void (*kernel)(S, long long, void *), const S &slot, long long p, void *memory, int lanes,
                        int threads, bool barriers) {
    gridDim.x = (unsigned)((p + lanes - 1) / lanes);
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) {
        if (!barriers) {
            for (threadIdx.x = 0; (int)threadIdx.x < threads; threadIdx.x++) kernel(slot, p, memory);
            continue;
        }
        barrier<> all(threads);
        c2cu_team team(threads);
        vector<thread> running;
        for (int t = 0; t < threads; t++)
            running.emplace_back([=, at = blockIdx, &all, &team] {
                threadIdx.x = t, blockIdx = at, c2cu_barrier = &all, c2cu_mine = &team;
                kernel(slot, p, memory);
            });
        for (auto &t : running) t.join();
    }
}

/* Launch a kernel of several blocks, `at_once` of them side by side, each with its own shared memory. */
template <typename F> static void c2cu_grid(c2cu_index grid, int threads, size_t shared_bytes, unsigned at_once, F kernel) {
    gridDim = grid, blockDim.x = threads;
    const unsigned blocks = grid.x * grid.y * grid.z;
    vector<thread> running;
    vector<unique_ptr<barrier<>>> barriers;
    vector<unique_ptr<c2cu_team>> teams;
    vector<unique_ptr<uint4[]>> memory;
    for (unsigned first = 0; first < min(at_once, blocks); first++) {
        barriers.push_back(make_unique<barrier<>>(threads));
        teams.push_back(make_unique<c2cu_team>(threads));
        memory.push_back(make_unique<uint4[]>(shared_bytes / 16 + 1));
        for (int t = 0; t < threads; t++)
            running.emplace_back([=, all = barriers.back().get(), team = teams.back().get(), shared = memory.back().get()] {
                threadIdx.x = t, c2cu_barrier = all, c2cu_mine = team, c2cu_shared_memory = (unsigned char *)shared;
                for (unsigned b = first; b < blocks; b += at_once) {
                    blockIdx = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
                    kernel();
                    __syncthreads(); /* shared memory is the next block's */
                }
            });
    }
    for (auto &t : running) t.join();
}
