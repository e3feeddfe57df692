// Rows of random numbers, and whether a result is what std::sort makes of them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

constexpr long P = 10'000;
constexpr std::size_t N = 32;

inline std::vector<float> random_rows() {
    std::vector<float> rows(P * N);
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> number(-1, 1);
    std::generate(rows.begin(), rows.end(), [&] { return number(generator); });
    return rows;
}

inline int compared(const std::vector<float> &sorted) {
    auto rows = random_rows();
    for (auto row = rows.begin(); row != rows.end(); row += N)
        std::sort(row, row + N);
    bool equal = rows == sorted;
    std::printf("%ld rows of %zu numbers: %s\n", P, N, equal ? "sorted" : "different");
    return !equal;
}
