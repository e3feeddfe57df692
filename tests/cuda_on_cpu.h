/* Enough of CUDA for generated kernels to run on the CPU.
 *
 * A device's threads are fibers: they take turns on one host thread, each until it waits. That is far faster than host
 * threads and the same in every run. They go from the first to the last and back, so that what lacks a barrier goes
 * wrong in one direction or the other.
 */
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>
/* Not all of std: a program may have an `array` or `data` of its own. */
using std::max;
using std::min;

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

static inline void __trap() { abort(); }
struct c2cu_gone {}; /* what a thread throws that ends */
#define C2CU_LEAVE throw c2cu_gone()
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned __int128)x * y >> 64; }

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
static thread_local struct c2cu_block *c2cu_mine;
static thread_local unsigned char *c2cu_shared_memory; /* of a block, where several go at once */
static thread_local ucontext_t c2cu_turn;              /* of what gives fibers their turns */
static thread_local struct c2cu_fiber *c2cu_current;

struct c2cu_fiber {
    ucontext_t context;
    bool done;
    unsigned thread, number; /* of the first block it works for */
    struct c2cu_block *block;
    unsigned char *shared;

    void resume() { /* until it yields */
        c2cu_current = this, threadIdx.x = thread, c2cu_mine = block, c2cu_shared_memory = shared;
        swapcontext(&c2cu_turn, &context);
    }
    void yield() {
        const c2cu_index at = blockIdx;
        swapcontext(&context, &c2cu_turn);
        blockIdx = at;
    }
};
struct c2cu_barrier {
    int size, waiting = 0;
    unsigned phase = 0;
    void wait() {
        const unsigned mine = phase;
        if (++waiting == size)
            waiting = 0, phase++;
        else
            while (*(volatile unsigned *)&phase == mine) c2cu_current->yield();
    }
};
struct c2cu_block { /* its threads wait for each other, as do those of a warp, which vote too */
    c2cu_barrier all;
    std::vector<c2cu_barrier> warps;
    unsigned votes[32];
    c2cu_block(int threads) : all{threads} {
        for (int t = 0; t < threads; t += 32) warps.push_back({min(32, threads - t)});
    }
};
static inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
static inline void __nanosleep(unsigned) { c2cu_current->yield(); }
static inline unsigned long long atomicAdd(unsigned long long *p, unsigned long long n) {
    return __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST);
}
static inline void __syncthreads() { c2cu_mine->all.wait(); }
static inline void __syncwarp() { c2cu_mine->warps[threadIdx.x / 32].wait(); }

static inline unsigned __ballot_sync(unsigned, int mine) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) c2cu_mine->votes[threadIdx.x / 32] = 0;
    __syncwarp();
    if (mine) __atomic_fetch_or(&c2cu_mine->votes[threadIdx.x / 32], 1u << threadIdx.x % 32, __ATOMIC_SEQ_CST);
    __syncwarp();
    return c2cu_mine->votes[threadIdx.x / 32];
}
static inline int __all_sync(unsigned all, int mine) { return !__ballot_sync(all, !mine); }
static inline int __any_sync(unsigned all, int mine) { return __ballot_sync(all, mine) != 0; }
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

struct c2cu_stacks { /* of fibers, gone with the launch */
    static const size_t size = 256 << 10;
    const size_t bytes;
    char *memory = nullptr;
    c2cu_stacks(unsigned fibers) : bytes(fibers * size) {
        if (!bytes) return;
        memory = (char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) abort();
    }
    ~c2cu_stacks() {
        if (bytes) munmap(memory, bytes);
    }
    c2cu_stacks(const c2cu_stacks &) = delete;
};

/* Call `work` in as many fibers as there are threads in `blocks`, each with its own `bytes` of shared memory. */
template <typename F>
static void c2cu_fibers(unsigned blocks, unsigned threads, size_t bytes, const c2cu_stacks &stacks, F &work) {
    std::vector<c2cu_fiber> fibers(blocks * threads);
    std::vector<std::unique_ptr<c2cu_block>> teams;
    std::vector<std::unique_ptr<uint4[]>> memory;
    static thread_local F *working;
    working = &work;
    for (unsigned k = 0; k < fibers.size(); k++) {
        if (k % threads == 0) {
            teams.push_back(std::make_unique<c2cu_block>(threads));
            memory.push_back(std::make_unique<uint4[]>(bytes / 16 + 1));
        }
        c2cu_fiber &f = fibers[k];
        f.done = false, f.thread = k % threads, f.number = k / threads;
        f.block = teams.back().get(), f.shared = (unsigned char *)memory.back().get();
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = stacks.memory + k * stacks.size, f.context.uc_stack.ss_size = stacks.size;
        f.context.uc_link = &c2cu_turn;
        makecontext(&f.context, [] { (*working)(c2cu_current->number), c2cu_current->done = true; }, 0);
    }
    for (bool back = false, left = true; left; back = !back) {
        left = false;
        for (size_t k = 0; k < fibers.size(); k++) {
            c2cu_fiber &f = fibers[back ? fibers.size() - 1 - k : k];
            if (!f.done) left = true, f.resume();
        }
    }
}

/* Launch a kernel of the runtime's form; `barriers`: its threads wait for each other. A block does `lanes` inputs. */
template <typename S>
static void c2cu_launch(void (*kernel)(S, long long, void *), const S &slot, long long p, void *memory, int lanes,
                        int threads, bool barriers) {
    gridDim.x = (unsigned)((p + lanes - 1) / lanes);
    blockDim.x = threads;
    const c2cu_stacks stacks(barriers ? threads : 0);
    for (unsigned b = 0; b < gridDim.x; b++) {
        auto work = [&](unsigned) { blockIdx = {b, 0, 0}, kernel(slot, p, memory); };
        if (barriers)
            c2cu_fibers(1, threads, 0, stacks, work);
        else
            for (threadIdx.x = 0; (int)threadIdx.x < threads; threadIdx.x++) work(0);
    }
}

/* Launch a kernel of several blocks, `at_once` of them side by side, each with its own shared memory. */
template <typename F> static void c2cu_grid(c2cu_index grid, int threads, size_t shared_bytes, unsigned at_once, F kernel) {
    gridDim = grid, blockDim.x = threads;
    const unsigned blocks = grid.x * grid.y * grid.z;
    auto work = [&](unsigned first) {
        for (unsigned b = first; b < blocks; b += at_once) {
            blockIdx = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
            kernel();
            __syncthreads(); /* shared memory is the next block's */
        }
    };
    at_once = min(at_once, blocks);
    c2cu_fibers(at_once, threads, shared_bytes, c2cu_stacks(at_once * threads), work);
}
