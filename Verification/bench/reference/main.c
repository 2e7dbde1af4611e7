// The bare reference: approvals over libzmq and SQLite, without the product and without encryption.
//
// Three processes play the relay, the children's devices and the guardians' devices. The relay logs
// a question of 300 bytes, syncs the log, acknowledges the question and publishes it. A decision of
// 150 bytes takes the same path. The child's process keeps the decision in a set and acknowledges
// it by a cursor, which is stored too.
//
//   bench-reference FOLDER WINDOW SECONDS   prints {"approvalsPerSecond":…,"relayCPUMicroseconds":…}
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum { QUESTION = 'q', DECISION = 'd', POSITION = 'p', FAMILIES = 10000, BATCH = 4096, SIZE = 300 };

typedef struct {
  char kind;
  uint32_t family;
  uint64_t number, sent;  // question number; ask time in nanoseconds
} Head;

typedef struct {
  _Atomic int stop;
  _Atomic uint64_t ready, done;
  _Atomic uint64_t cpu;  // CPU time of the relay, in microseconds
} Shared;

static Shared *shared;
static char requests[512], events[512];
static const char *folder;

static void die(const char *what) {
  fprintf(stderr, "%s: %s\n", what, zmq_strerror(zmq_errno()));
  _exit(1);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *socket_of(void *context, int kind) {
  void *made = zmq_socket(context, kind);
  int zero = 0;
  zmq_setsockopt(made, ZMQ_SNDHWM, &zero, sizeof zero);
  zmq_setsockopt(made, ZMQ_RCVHWM, &zero, sizeof zero);
  zmq_setsockopt(made, ZMQ_LINGER, &zero, sizeof zero);
  return made;
}

// MARK: the relay

static sqlite3 *db;

static void sql(const char *text) {
  if (sqlite3_exec(db, text, 0, 0, 0) != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", text, sqlite3_errmsg(db));
    _exit(1);
  }
}

static sqlite3_stmt *prepared(const char *text) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(db, text, -1, &statement, 0) != SQLITE_OK) die(text);
  return statement;
}

static void run(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) die(sqlite3_errmsg(db));
  sqlite3_reset(statement);
}

static void note_cpu(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  shared->cpu = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void relay(void) {
  static char bodies[BATCH][SIZE];
  static int sizes[BATCH];
  char path[512];
  snprintf(path, sizeof path, "%s/reference.sqlite", folder);
  if (sqlite3_open(path, &db) != SQLITE_OK) die("open");
  sql("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "PRAGMA wal_autocheckpoint=16384; PRAGMA cache_size=-65536;"
      "CREATE TABLE log(id INTEGER PRIMARY KEY, kind INTEGER, family INTEGER, body BLOB);"
      "CREATE TABLE position(who INTEGER PRIMARY KEY, number INTEGER)");
  sqlite3_stmt *append = prepared("INSERT INTO log(kind, family, body) VALUES(?,?,?)");
  sqlite3_stmt *move = prepared("INSERT OR REPLACE INTO position VALUES(?,?)");
  void *context = zmq_ctx_new();
  void *router = socket_of(context, ZMQ_ROUTER), *publisher = socket_of(context, ZMQ_PUB);
  if (zmq_bind(router, requests) || zmq_bind(publisher, events)) die("bind");
  shared->ready++;
  while (!shared->stop) {
    zmq_pollitem_t item = {router, 0, ZMQ_POLLIN, 0};
    if (zmq_poll(&item, 1, 50) < 1) continue;
    int count = 0, wrote = 0, peers = 0, length;
    struct { char route[64]; int length; uint64_t last; } peer[8];
    char route[64];
    while (count < BATCH && (length = zmq_recv(router, route, sizeof route, ZMQ_DONTWAIT)) > 0) {
      char *body = bodies[count];
      int size = zmq_recv(router, body, SIZE, 0);
      Head head;
      memcpy(&head, body, sizeof head);
      if (!wrote++) sql("BEGIN");
      if (head.kind == POSITION) {
        sqlite3_bind_int(move, 1, (int)head.family);
        sqlite3_bind_int64(move, 2, (sqlite3_int64)head.number);
        run(move);
        continue;
      }
      sqlite3_bind_int(append, 1, head.kind);
      sqlite3_bind_int(append, 2, (int)head.family);
      sqlite3_bind_blob(append, 3, body, size, SQLITE_STATIC);
      run(append);
      sizes[count++] = size;
      int index = 0;
      while (index < peers && (peer[index].length != length || memcmp(peer[index].route, route, (size_t)length))) index++;
      if (index == peers && peers < 8) {
        memcpy(peer[peers].route, route, (size_t)length);
        peer[peers++].length = length;
      }
      peer[index].last = head.number;
    }
    if (wrote) sql("COMMIT");
    for (int i = 0; i < peers; i++) {
      zmq_send(router, peer[i].route, (size_t)peer[i].length, ZMQ_SNDMORE);
      zmq_send(router, &peer[i].last, 8, 0);
    }
    for (int i = 0; i < count; i++) zmq_send(publisher, bodies[i], (size_t)sizes[i], 0);
    note_cpu();
  }
  _exit(0);
}

// MARK: the devices

static void device(char topic, uint64_t window) {
  void *context = zmq_ctx_new();
  void *dealer = socket_of(context, ZMQ_DEALER), *subscriber = socket_of(context, ZMQ_SUB);
  zmq_setsockopt(subscriber, ZMQ_SUBSCRIBE, &topic, 1);
  if (zmq_connect(dealer, requests) || zmq_connect(subscriber, events)) die("connect");
  usleep(300000);
  shared->ready++;
  uint64_t asked = 0, applied = 0, moved = 0, moved_at = 0;
  uint8_t *known = calloc(1, (1u << 28) / 8);
  char body[SIZE] = {0};
  while (!shared->stop) {
    while (topic == DECISION && asked - applied < window) {
      Head head = {QUESTION, (uint32_t)(asked * 7919 % FAMILIES), asked, now()};
      memcpy(body, &head, sizeof head);
      zmq_send(dealer, body, SIZE, 0);
      asked++;
    }
    // Cursors are cumulative and sent every five milliseconds.
    if (applied != moved && now() - moved_at > 5000000) {
      Head head = {POSITION, (uint32_t)topic, applied, 0};
      zmq_send(dealer, &head, sizeof head, 0);
      moved = applied;
      moved_at = now();
    }
    zmq_pollitem_t items[2] = {{dealer, 0, ZMQ_POLLIN, 0}, {subscriber, 0, ZMQ_POLLIN, 0}};
    zmq_poll(items, 2, applied != moved ? 5 : 50);
    uint64_t acknowledged;
    while (zmq_recv(dealer, &acknowledged, 8, ZMQ_DONTWAIT) >= 0) {}
    char found[SIZE];
    for (int i = 0; i < 1024 && zmq_recv(subscriber, found, SIZE, ZMQ_DONTWAIT) >= 0; i++) {
      Head head;
      memcpy(&head, found, sizeof head);
      if (topic == QUESTION) {
        head.kind = DECISION;
        memcpy(body, &head, sizeof head);
        zmq_send(dealer, body, SIZE / 2, 0);
      } else {
        known[head.number >> 3 & ((1u << 25) - 1)] |= (uint8_t)(1 << (head.number & 7));
        shared->done++;
      }
      applied++;
    }
  }
  _exit(0);
}

static int start(void (*body)(void), char topic, uint64_t window) {
  int child = fork();
  if (child) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (body) body();
  device(topic, window);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: bench-reference FOLDER WINDOW SECONDS\n");
    return 2;
  }
  folder = arguments[1];
  uint64_t window = (uint64_t)atoll(arguments[2]);
  double seconds = atof(arguments[3]);
  snprintf(requests, sizeof requests, "ipc://%s/reference-requests.ipc", folder);
  snprintf(events, sizeof events, "ipc://%s/reference-events.ipc", folder);
  shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int children[3];
  children[0] = start(relay, 0, 0);
  while (shared->ready < 1) usleep(1000);
  children[1] = start(0, QUESTION, window);
  while (shared->ready < 2) usleep(1000);
  children[2] = start(0, DECISION, window);
  while (shared->ready < 3) usleep(1000);
  usleep(300000);
  uint64_t from = now(), done = shared->done, cpu = shared->cpu;
  usleep((useconds_t)(seconds * 1e6));
  double took = (double)(now() - from) / 1e9, approvals = (double)(shared->done - done);
  cpu = shared->cpu - cpu;
  shared->stop = 1;
  for (int i = 0; i < 3; i++) kill(children[i], SIGKILL), waitpid(children[i], 0, 0);
  printf("{\"approvalsPerSecond\":%.1f,\"relayCPUMicroseconds\":%.3f}\n", approvals / took,
         approvals > 0 ? (double)cpu / approvals : 0);
  return 0;
}
