/* The hook client: standard input to the supervisor's socket as one line, its reply to standard output.

   hookclient [--before] [--closed] [--deadline S] [--socket P] [--gate P] [--serve P] [--gates D] CLIENT

   The socket is --socket, else INTERLOCK_SOCKET, else --serve (the resident supervisor's). An empty line from the
   supervisor means that it is there and the answer will come; without a word for S seconds (10) nobody is. Then the
   gate file decides (--gate, else INTERLOCK_GATE, else the session's in --gates): shut waits until it opens, open
   lets the step go on, or with --closed refuses it (exit status 2) where it is one (--before).
   hookclient.py does the same where there is no C compiler. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum result { ANSWERED, NOBODY, LOST, SILENT, REFUSED };
enum { LOOK_MS = 100, CHUNK = 65536 };

static const char *client, *socket_path, *gate_path, *gates;
static int before, closed;
static long deadline_ms = 10000;
static char *request, *reply;
static size_t request_size, reply_size;

static long now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000L + t.tv_nsec / 1000000L;
}

static void pause_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static char *grow(char *data, size_t need, size_t *room) {
    if (need <= *room) return data;
    *room = need * 2;
    data = realloc(data, *room);
    if (!data) _exit(closed && before ? 2 : 0);
    return data;
}

/* {"hook":{"client":"...","payload":...}} with the line ends of the payload, which are no part of any string, gone. */
static void read_request(void) {
    char head[256];
    int length = snprintf(head, sizeof head, "{\"hook\":{\"client\":\"%s\",\"payload\":", client);
    size_t room = 0, begin = (size_t)length, end = begin;
    ssize_t got;
    request = grow(NULL, begin + CHUNK, &room);
    memcpy(request, head, begin);
    while ((got = read(0, request + end, room - end)) > 0 || (got < 0 && errno == EINTR)) {
        if (got > 0) end += (size_t)got;
        request = grow(request, end + CHUNK, &room);
    }
    for (size_t i = begin; i < end; i++)
        if (request[i] == '\n' || request[i] == '\r') request[i] = ' ';
    memcpy(request + end, "}}\n", 4);
    request_size = end + 3;
}

/* The gate of the session that the payload names, in the folder of gates. */
static void find_gate(void) {
    static char path[4096];
    const char *key = "\"session_id\":", *at;
    size_t n;
    if (!gates || !(at = strstr(request, key))) return;
    at += strlen(key);
    while (*at == ' ' || *at == '"') at++;
    for (n = 0; isalnum((unsigned char)at[n]) || at[n] == '-' || at[n] == '_'; n++) {}
    if (n == 0 || n > 200) return;
    snprintf(path, sizeof path, "%s/%.*s", gates, (int)n, at);
    gate_path = path;
}

/* What the gate file says; one that cannot be read is shut, none is open. */
static int is_shut(void) {
    char data[512];
    ssize_t got;
    int file;
    if (!gate_path || !*gate_path) return 0;
    file = open(gate_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return errno != ENOENT && errno != ENOTDIR;
    got = read(file, data, sizeof data - 1);
    close(file);
    if (got <= 0) return 1;
    data[got] = 0;
    return strstr(data, "\"shut\":false") == NULL;
}

static int ready(int sock, short events) {
    struct pollfd one = {sock, events, 0};
    long until = now_ms() + deadline_ms, left;
    int n;
    /* Looked at once more after the deadline: whoever was frozen has words waiting that came in time. */
    do {
        left = until - now_ms();
        n = poll(&one, 1, left > 0 ? (int)left : 0);
    } while (n < 0 && errno == EINTR);
    return n > 0;
}

static enum result converse(int sock) {
    size_t sent = 0, room = 0, end = 0;
    ssize_t n;
    while (sent < request_size) {
        n = send(sock, request + sent, request_size - sent, MSG_NOSIGNAL);
        if (n > 0) sent += (size_t)n;
        else if (errno == EAGAIN) { if (!ready(sock, POLLOUT)) return SILENT; }
        else if (errno != EINTR) return LOST;
    }
    for (;;) {
        char *line = reply, *stop;
        while (end && (stop = memchr(line, '\n', end - (size_t)(line - reply)))) {
            if (stop != line) {
                memmove(reply, line, reply_size = (size_t)(stop - line));
                return reply_size > 9 && !memcmp(reply, "{\"error\":", 9) ? REFUSED : ANSWERED;
            }
            line = stop + 1;
        }
        if (!ready(sock, POLLIN)) return SILENT;
        reply = grow(reply, end + CHUNK, &room);
        n = recv(sock, reply + end, room - end, 0);
        if (n > 0) end += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR)) return LOST;
    }
}

static enum result ask(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    enum result result;
    int sock;
    if (!socket_path || strlen(socket_path) >= sizeof address.sun_path) return NOBODY;
    strcpy(address.sun_path, socket_path);
    sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0) return NOBODY;
    while (connect(sock, (struct sockaddr *)&address, sizeof address)) {
        if (errno == EINTR) continue;
        result = errno == EAGAIN ? LOST : NOBODY;
        close(sock);
        return result;
    }
    free(reply);
    reply = NULL;
    result = converse(sock);
    close(sock);
    return result;
}

static int give_up(const char *why) {
    if (!closed || !before) return 0;
    fprintf(stderr, "interlock: %s, and this run is configured to fail closed. Do not try again.\n", why);
    return 2;
}

int main(int count, char **words) {
    const char *serve = NULL;
    long until;
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(word, "--before")) before = 1;
        else if (!strcmp(word, "--closed")) closed = 1;
        else if (!strcmp(word, "--deadline")) deadline_ms = (long)(atof(value) * 1000), i++;
        else if (!strcmp(word, "--socket")) socket_path = value, i++;
        else if (!strcmp(word, "--gate")) gate_path = value, i++;
        else if (!strcmp(word, "--serve")) serve = value, i++;
        else if (!strcmp(word, "--gates")) gates = value, i++;
        else client = word;
    }
    if (!client || strlen(client) > 64) return give_up("the hook was called without the name of its client");
    if (getenv("INTERLOCK_FAIL") && !strcmp(getenv("INTERLOCK_FAIL"), "closed")) closed = 1;
    read_request();
    if (!socket_path) socket_path = getenv("INTERLOCK_SOCKET");
    if (!gate_path) gate_path = getenv("INTERLOCK_GATE");
    if (!socket_path || !*socket_path) socket_path = serve, find_gate();
    until = now_ms() + deadline_ms;
    for (;;) {
        enum result result = ask();
        if (result == ANSWERED) {
            size_t done = 0;
            while (done < reply_size) {
                ssize_t n = write(1, reply + done, reply_size - done);
                if (n > 0) done += (size_t)n;
                else if (errno != EINTR) break;
            }
            return 0;
        }
        if (is_shut()) until = now_ms() + deadline_ms;
        else if (result == REFUSED) return give_up("the supervisor did not understand the hook");
        else if (result == NOBODY) return give_up("nobody supervises this step");
        else if (result == SILENT || now_ms() > until) return give_up("the supervisor does not answer");
        pause_ms(LOOK_MS);
    }
}
