#define N 16
float A[N][N];
void gj(void) {
  for (int k = 0; k < N; k++) {
    float p = A[k][k];
    for (int j = 0; j < N; j++) A[k][j] /= p;
    for (int i = 0; i < N; i++) {
      if (i == k) continue;
      float f = A[i][k];
      for (int j = 0; j < N; j++) A[i][j] -= f * A[k][j];
    }
  }
}
