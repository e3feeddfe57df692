/* All-pairs shortest paths of many graphs: a loop over them, and the library's one call. */
#include <fw_bulk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { P = 4096, N = 16, THREADS = 4 };

static void floyd_warshall(float D[N][N]) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (D[i][j] > D[i][k] + D[k][j])
                    D[i][j] = D[i][k] + D[k][j];
}

int main(void) {
    float(*one)[N][N] = malloc(P * sizeof *one), (*bulk)[N][N] = malloc(P * sizeof *bulk);
    void *workspace = malloc(fw_bulk_workspace(P, THREADS));
    if (!one || !bulk || !workspace)
        return 1;
    for (int g = 0; g < P; g++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                one[g][i][j] = i == j ? 0 : rand() % 4 ? INFINITY : 1 + rand() % 100 / 8.0f;
    memcpy(bulk, one, P * sizeof *one);

    for (int g = 0; g < P; g++)
        floyd_warshall(one[g]);
    int error = fw_bulk(&bulk[0][0][0], P, workspace, THREADS);
    if (error) {
        fprintf(stderr, "%s\n", fw_bulk_error(error));
        return 1;
    }
    int equal = !memcmp(bulk, one, P * sizeof *one);
    printf("%d graphs of %d nodes: %s\n", P, N, equal ? "equal" : "different");
    free(one), free(bulk), free(workspace);
    return !equal;
}
