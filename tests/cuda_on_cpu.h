/* What generated CUDA needs to run on a CPU: blocks one after the other, the threads of a block as host threads where
 * there are barriers and as a loop where there are none. For tests only. */
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __restrict__ __restrict
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
#define __trap() __builtin_trap()

struct cuda_dim { unsigned x = 0, y = 0, z = 0; };
static thread_local cuda_dim threadIdx, blockIdx;
static cuda_dim blockDim, gridDim;

class cuda_barrier {
    std::mutex mutex;
    std::condition_variable all;
    unsigned waiting = 0, members = 0, turn = 0;
    void release() { waiting = 0, turn++, all.notify_all(); }

public:
    void start(unsigned n) { members = n, waiting = 0; }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex);
        unsigned mine = turn;
        if (++waiting == members) return release();
        all.wait(lock, [&] { return turn != mine; });
    }
    void leave() { /* a thread that returned holds nobody up */
        std::unique_lock<std::mutex> lock(mutex);
        if (--members && waiting == members) release();
    }
};
static cuda_barrier cuda_block;
#define __syncthreads() cuda_block.wait()

static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (uint64_t)a * b >> 32; }
template <typename To, typename From> static inline To cuda_bits(From x) {
    To y;
    static_assert(sizeof x == sizeof y, "");
    std::memcpy(&y, &x, sizeof y);
    return y;
}
static inline float __int_as_float(int x) { return cuda_bits<float>(x); }
static inline int __float_as_int(float x) { return cuda_bits<int>(x); }
static inline double __longlong_as_double(long long x) { return cuda_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return cuda_bits<long long>(x); }

template <typename Kernel> static void cuda_launch(Kernel kernel, unsigned blocks, unsigned threads, bool barriers) {
    gridDim.x = blocks, blockDim.x = threads;
    for (unsigned b = 0; b < blocks; b++) {
        auto one = [&](unsigned t) { blockIdx.x = b, threadIdx.x = t, kernel(); };
        if (!barriers) {
            for (unsigned t = 0; t < threads; t++) one(t);
            continue;
        }
        cuda_block.start(threads);
        std::vector<std::thread> team;
        for (unsigned t = 0; t < threads; t++) team.emplace_back([&, t] { one(t), cuda_block.leave(); });
        for (auto &member : team) member.join();
    }
}
