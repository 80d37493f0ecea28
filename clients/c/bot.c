/* A bot that plays seats through the C interface, and continues after it was killed.
 *
 *     bot RULESETS RULESET SEAT[,SEAT] CAMPAIGN.rbsave [SEED]
 *
 * The host runs inside the process that opens it, and ends with that process. So the first process only watches: it starts
 * a second process, which has the host and plays, and starts it again if a signal or the end of the host has ended it. Both
 * share memory with the number of the last step. Needs POSIX. The functions below read JSON. No argument may have a quotation
 * mark or a backslash.
 */

#define _DEFAULT_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "riskbreaker.h"

enum { MOST_SEATS = 8, MOST_RESTARTS = 20, HOST_HAS_ENDED = 10 };

/* The memory that the watching and the playing process share. */
struct progress {
    volatile pid_t player;
    volatile unsigned long answers;
    struct {
        volatile unsigned long seq, revision;
    } last[MOST_SEATS];
};

struct game {
    const char *rulesets, *ruleset, *seats, *campaign, *seed;
    const char *more; /* further parameters of `table.new`, each after a comma */
};

/* Reading JSON. A value is a pointer to its first character in the text, or NULL if there is none. The host writes no spaces. */

/* Returns the end of a value. */
static const char *behind(const char *at)
{
    int depth = 0;
    do {
        if (*at == '"') {
            for (at++; *at != '"'; at++)
                at += *at == '\\';
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            depth--;
        }
        at++;
    } while (depth > 0 || (*at != ',' && *at != '}' && *at != ']' && *at != ':' && *at != '\0'));
    return at;
}

/* Returns the value of a member of an object. */
static const char *member(const char *object, const char *name)
{
    size_t length = strlen(name);
    if (object == NULL || *object != '{')
        return NULL;
    for (const char *at = object + 1; *at == '"';) {
        const char *value = behind(at) + 1;
        if (strncmp(at + 1, name, length) == 0 && at[length + 1] == '"')
            return value;
        at = behind(value);
        at += *at == ',';
    }
    return NULL;
}

/* Returns an item of a list, counted from 0. */
static const char *item(const char *list, size_t number)
{
    if (list == NULL || *list != '[' || list[1] == ']')
        return NULL;
    for (list++; number > 0; number--) {
        list = behind(list);
        if (*list++ != ',')
            return NULL;
    }
    return list;
}

static size_t count(const char *list)
{
    size_t items = 0;
    while (item(list, items) != NULL)
        items++;
    return items;
}

static int is(const char *value, const char *json)
{
    return value != NULL && strncmp(value, json, strlen(json)) == 0;
}

static unsigned long number(const char *value)
{
    return value == NULL ? 0 : strtoul(value, NULL, 10);
}

static int length(const char *value)
{
    return value == NULL ? 0 : (int)(behind(value) - value);
}

/* Talking to the host */

/* Sends a request and returns the messages of the host, to be freed. The last line has the result or the error. */
static char *request(Riskbreaker *host, const char *method, const char *params, ...)
{
    char message[4096], given[3072];
    va_list values;
    va_start(values, params);
    vsnprintf(given, sizeof given, params, values);
    va_end(values);
    snprintf(message, sizeof message, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}", method, given);
    char *said = riskbreaker_call(host, message);
    if (said == NULL || strstr(said, "\"message\":\"riskbreaker has ended\"") != NULL)
        _exit(HOST_HAS_ENDED);
    return said;
}

static const char *last_line(const char *said)
{
    const char *line = strrchr(said, '\n');
    return line == NULL ? said : line + 1;
}

/* Returns the result of a request. If it was refused, prints the error on standard error and returns NULL. */
static const char *result(const char *said)
{
    const char *error = member(last_line(said), "error"), *message = member(error, "message");
    if (error != NULL)
        fprintf(stderr, "%.*s\n", length(message), message);
    return member(last_line(said), "result");
}

/* Returns the hash of a text (FNV-1a). */
static unsigned long hash(const char *text, int length)
{
    unsigned long value = 2166136261u;
    for (int at = 0; at < length; at++)
        value = ((value ^ (unsigned char)text[at]) * 16777619u) & 0xffffffffu;
    return value >> 8;
}

/* Playing */

/* Answers the first question of a viewer. Returns 1 if there is none, 0 if it was answered, -1 if the answer was refused. */
static int answer(Riskbreaker *host, struct progress *progress, int at, unsigned long viewer)
{
    unsigned long seq = progress->last[at].seq, revision = progress->last[at].revision;
    char *said = request(host, "view", "\"viewer\":%lu,\"since\":%lu,\"seq\":%lu", viewer, revision, seq);
    const char *view = result(said), *log = member(view, "log"), *mine = NULL;
    progress->last[at].seq = number(member(view, "seq"));
    progress->last[at].revision = number(member(view, "revision"));
    if (at == 0 && member(view, "after") != NULL) { /* otherwise it is all from the beginning again */
        for (size_t line = 0; item(log, line) != NULL; line++) {
            const char *text = member(item(log, line), "text");
            if (text != NULL)
                printf("%.*s\n", length(text), text);
        }
    }
    for (size_t question = 0; mine == NULL && item(member(view, "questions"), question) != NULL; question++) {
        const char *open = item(member(view, "questions"), question);
        mine = is(member(open, "yours"), "true") ? open : NULL;
    }
    int done = mine == NULL ? 1 : -1;
    if (mine != NULL) {
        const char *id = member(mine, "id"), *entities = member(view, "entities"), *value = member(mine, "proposal");
        char *choices = request(host, "answers", "\"viewer\":%lu,\"question\":%.*s,\"most\":200", viewer, length(id), id);
        const char *answers = member(result(choices), "answers");
        /* The choice depends on the state alone, so after a restart it is the same. */
        if (count(answers) > 0)
            value = item(answers, hash(entities, length(entities)) % count(answers));
        char *answered = request(host, "answer", "\"viewer\":%lu,\"question\":%.*s,\"value\":%.*s", viewer, length(id), id,
                                 length(value), value);
        if (result(answered) != NULL) {
            done = 0;
            progress->answers++;
        }
        riskbreaker_free(answered);
        riskbreaker_free(choices);
    }
    riskbreaker_free(said);
    return done;
}

/* Opens the campaign and plays. Returns 0 at the end of the game, 1 if it cannot be played, 2 if others have to decide. */
static int play(const struct game *game, struct progress *progress)
{
    Riskbreaker *host = riskbreaker_open(game->rulesets);
    if (host == NULL) {
        fprintf(stderr, "the rulesets cannot be opened\n");
        return 1;
    }
    int new = access(game->campaign, F_OK) != 0;
    char *opened = new ? request(host, "table.new", "\"table\":\"a\",\"ruleset\":\"%s\",\"seed\":%s,\"campaign\":\"%s\"%s",
                                 game->ruleset, game->seed, game->campaign, game->more)
                       : request(host, "table.load", "\"table\":\"a\",\"path\":\"%s\"", game->campaign);
    int outcome = result(opened) == NULL;
    riskbreaker_free(opened);
    unsigned long viewers[MOST_SEATS];
    int seats = 0;
    for (const char *seat = game->seats; outcome == 0 && seat != NULL && seats < MOST_SEATS; seats++) {
        const char *comma = strchr(seat, ',');
        int size = comma == NULL ? (int)strlen(seat) : (int)(comma - seat);
        unsigned long seq = progress->last[seats].seq, revision = progress->last[seats].revision;
        char *welcome = request(host, "hello", "\"table\":\"a\",\"role\":\"seat\",\"seat\":\"%.*s\",\"since\":%lu,\"seq\":%lu",
                                size, seat, revision, seq);
        viewers[seats] = number(member(result(welcome), "viewer"));
        outcome = viewers[seats] == 0;
        riskbreaker_free(welcome);
        seat = comma == NULL ? NULL : comma + 1;
    }
    for (int idle = 0, at = 0; outcome == 0 && idle < seats; at = (at + 1) % seats) {
        int answered = answer(host, progress, at, viewers[at]);
        outcome = answered < 0;
        idle = answered > 0 ? idle + 1 : 0;
    }
    if (outcome == 0) {
        char *said = request(host, "view", "\"viewer\":%lu", viewers[0]);
        const char *text = member(member(result(said), "state"), "outcome");
        outcome = text == NULL ? 2 : 0;
        if (text != NULL)
            printf("outcome: %.*s\n", length(text), text);
        riskbreaker_free(said);
    }
    fflush(stdout);
    riskbreaker_close(host);
    return outcome;
}

/* Starts the process that plays, again if it ends early. Returns the result of `play`. */
static int watch(const struct game *game, struct progress *progress)
{
    for (int fruitless = 0; fruitless <= MOST_RESTARTS; fruitless++) {
        unsigned long before = progress->answers;
        fflush(stdout);
        pid_t player = fork();
        if (player == 0)
            _exit(play(game, progress));
        progress->player = player;
        int status = 0;
        if (player < 0 || waitpid(player, &status, 0) < 0)
            return 1;
        progress->player = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) != HOST_HAS_ENDED)
            return WEXITSTATUS(status);
        if (progress->answers > before)
            fruitless = 0;
        fprintf(stderr, "riskbreaker has ended; it continues from step %lu\n", progress->last[0].seq);
        struct timespec moment = {0, 5000000L << (fruitless < 7 ? fruitless : 7)};
        nanosleep(&moment, NULL);
    }
    return 1;
}

static struct progress *shared_progress(void)
{
    void *memory = mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

#ifndef RISKBREAKER_BOT_WITHOUT_MAIN
int main(int argc, char **argv)
{
    struct progress *progress = shared_progress();
    if (argc < 5 || progress == NULL) {
        fprintf(stderr, "usage: bot RULESETS RULESET SEAT[,SEAT] CAMPAIGN.rbsave [SEED]\n");
        return 1;
    }
    struct game game = {argv[1], argv[2], argv[3], argv[4], argc > 5 ? argv[5] : "1", ""};
    return watch(&game, progress);
}
#endif
