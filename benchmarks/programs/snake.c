/* An environment: 64 steps of the game of snake on a board of 11 x 11, with its own generator of random numbers. */
unsigned seed;
unsigned char action[64];
int reward[64], score;

#define N 11
typedef struct { int body[N * N]; int head, length, dir, food, score, alive; unsigned seed; unsigned char used[N * N]; } Snake;
static unsigned next(Snake *s) { s->seed ^= s->seed << 13; s->seed ^= s->seed >> 17; s->seed ^= s->seed << 5; return s->seed; }
static void put_food(Snake *s) { do s->food = next(s) % (N * N); while (s->used[s->food]); }
static void reset(Snake *s) {
    for (int i = 0; i < N * N; i++) s->used[i] = 0;
    s->head = 0; s->length = 3; s->dir = 0; s->score = 0; s->alive = 1;
    for (int i = 0; i < 3; i++) { s->body[i] = N * (N / 2) + N / 2 - i; s->used[s->body[i]] = 1; }
    put_food(s);
}
void snake(void) {
    Snake s;
    s.seed = seed | 1;
    reset(&s);
    int total = 0;
    for (int t = 0; t < 64; t++) {
        int a = action[t] & 3;
        if ((a ^ s.dir) != 2) s.dir = a;
        int h = s.body[s.head], r = h / N, c = h % N;
        if (s.dir == 0) c++; else if (s.dir == 1) r++; else if (s.dir == 2) c--; else r--;
        reward[t] = 0;
        if (r < 0 || c < 0 || r >= N || c >= N || s.used[r * N + c]) { reward[t] = -1; reset(&s); continue; }
        int at = r * N + c;
        s.head = (s.head + N * N - 1) % (N * N);
        s.body[s.head] = at;
        s.used[at] = 1;
        if (at == s.food) { s.length++; s.score++; total++; reward[t] = 1; put_food(&s); }
        else s.used[s.body[(s.head + s.length) % (N * N)]] = 0;
    }
    score = total;
}
