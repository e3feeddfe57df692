/* Floyd-Warshall: the length of a shortest path between any two vertices. An edge that is not there is as long as can
   be; the sum of two short is an int, so nothing overflows. */
#define N 1024
#define WEIGHT short

WEIGHT D[N][N];

void apsp(void)
{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (D[i][k] + D[k][j] < D[i][j])
                    D[i][j] = D[i][k] + D[k][j];
}
