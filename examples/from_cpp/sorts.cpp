// Sorts many rows with one call, on the CPU.
#include "rows.hpp"
#include <sort_bulk.h>
#include <thread>

int main() {
    auto rows = random_rows();
    int threads = std::max(1u, std::thread::hardware_concurrency());
    std::vector<char> workspace(sort_bulk_workspace(P, threads));
    if (int error = sort_bulk(rows.data(), P, workspace.data(), threads)) {
        std::fprintf(stderr, "%s\n", sort_bulk_error(error));
        return 1;
    }
    return compared(rows);
}
