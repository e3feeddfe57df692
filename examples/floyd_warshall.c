/* All-pairs shortest paths of one directed graph by Floyd and Warshall.
 *
 * stdin: N * N edge lengths, row by row; "inf" where there is no edge.
 * stdout: N * N distances, in the same order.
 */
#include <stdio.h>

#define N 16

float D[N][N];

void update_dist(int i, int j, int k) {
    if (D[i][j] > D[i][k] + D[k][j])
        D[i][j] = D[i][k] + D[k][j];
}

void floyd_warshall(void) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                update_dist(i, j, k);
}

int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (scanf("%f", &D[i][j]) != 1)
                return 1;
#pragma kernel
    floyd_warshall();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            printf("%.9g%c", D[i][j], j + 1 < N ? ' ' : '\n');
    return 0;
}
