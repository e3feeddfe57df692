#define N 16
int D[N][N]; int next[N][N];
void fw(void) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++) {
      int a = D[i][k];
      if (a == 1000000) continue;
      for (int j = 0; j < N; j++) {
        int t = a + D[k][j];
        if (t < D[i][j]) { D[i][j] = t; next[i][j] = next[i][k]; }
      }
    }
}
