/* Snake on a board with walls: an environment that is stepped. The program reads seeds, each followed by STEPS actions,
   and prints what the player of each seed has reached. */
#include <stdio.h>

#define N 8
#define STEPS 1000

enum { EMPTY, BODY, FOOD };
enum { UP, RIGHT, DOWN, LEFT };

unsigned seed = 1;     // of the random numbers, not 0
char board[N * N];
int body[N * N];       // the snake's cells, a ring
int head, length;      // the head's place in the ring; of length 0, a game begins

int action;            // UP, RIGHT, DOWN or LEFT
float reward;
int done;              // the game is over, and the next step begins another
signed char view[N * N];

static int random_cell(void) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % (N * N);
}

static void place_food(void) {
    int cell = random_cell();
    while (board[cell] != EMPTY)
        cell = random_cell();
    board[cell] = FOOD;
}

static void begin(void) {
    for (int i = 0; i < N * N; i++)
        board[i] = EMPTY;
    head = 0;
    length = 1;
    body[0] = random_cell();
    board[body[0]] = BODY;
    place_food();
}

void step(void) {
    if (length == 0)
        begin();
    int row = body[head] / N + (action == DOWN) - (action == UP);
    int column = body[head] % N + (action == RIGHT) - (action == LEFT);
    int cell = row * N + column;
    reward = 0;
    done = 0;
    if (row < 0 || row >= N || column < 0 || column >= N || board[cell] == BODY) {
        reward = -1;
        done = 1;
        length = 0;
    } else {
        int ate = board[cell] == FOOD;
        head = (head + 1) % (N * N);
        body[head] = cell;
        board[cell] = BODY;
        if (ate) {
            reward = 1;
            length++;
            if (length < N * N)
                place_food();
        } else {
            board[body[(head - length + N * N) % (N * N)]] = EMPTY;
        }
    }
    for (int i = 0; i < N * N; i++)
        view[i] = board[i];
}

int main(void) {
    while (scanf("%u", &seed) == 1) {
        int games = 0, eaten = 0;
        length = 0;
        for (int i = 0; i < STEPS; i++) {
            scanf("%d", &action);
            step();
            games += done;
            eaten += reward > 0;
        }
        printf("%d %d %u\n", games, eaten, seed);
    }
}
