/* Plays two turns through the C interface, and kills the bot repeatedly while it plays: `test_client RULESETS`. */

#define RISKBREAKER_BOT_WITHOUT_MAIN
#include "bot.c"

#include <signal.h>

static int failures = 0;

/* Sends a message and checks that the reply contains a text. */
static void expect(Riskbreaker *host, const char *message, const char *wanted)
{
    char *said = riskbreaker_call(host, message);
    if (said == NULL || strstr(said, wanted) == NULL) {
        fprintf(stderr, "sent %s\nwanted %s\ngot %s\n", message, wanted, said == NULL ? "NULL" : said);
        failures++;
    }
    riskbreaker_free(said);
}

/* Returns the decisions of a campaign, one on each line. */
static char *decisions(const char *rulesets, const char *campaign)
{
    Riskbreaker *host = riskbreaker_open(rulesets);
    riskbreaker_free(request(host, "table.load", "\"table\":\"a\",\"path\":\"%s\"", campaign));
    char *said = request(host, "entries", "\"table\":\"a\""), *lines = calloc(1, strlen(said) + 1);
    const char *entries = member(result(said), "entries");
    for (size_t entry = 0; item(entries, entry) != NULL; entry++) {
        const char *text = member(item(entries, entry), "text");
        strncat(lines, text, (size_t)length(text));
        strcat(lines, "\n");
    }
    riskbreaker_free(said);
    riskbreaker_close(host);
    return lines;
}

/* Plays a game that is killed after every second answer, each time after a different delay. Returns how often it was killed, or -1
   if the bot failed. */
static int killed_game(const struct game *game, struct progress *progress)
{
    int kills = 0, status = 0;
    unsigned long at = 1, last = 0;
    memset(progress, 0, sizeof *progress);
    fflush(stdout);
    pid_t former = 0, watching = fork();
    if (watching == 0)
        _exit(watch(game, progress));
    while (waitpid(watching, &status, WNOHANG) == 0) {
        struct timespec moment = {0, 200000L * (long)(at % 17)};
        pid_t player = progress->player;
        if (progress->answers >= at && player > 0 && player != former) {
            nanosleep(&moment, NULL);
            if (kill(player, SIGKILL) == 0)
                kills++;
            failures += progress->last[0].seq < last;
            last = progress->last[0].seq;
            at = progress->answers + 2;
            former = player;
        }
        nanosleep(&(struct timespec){0, 100000L}, NULL);
    }
    return status == 0 ? kills : -1;
}

/* Checks that the bot makes the same decisions and plays to the end of the game, whether it is killed or not. Plays games until three
   kills have happened, since their number in one game depends on the machine. */
static void expect_survival(const char *rulesets)
{
    char folder[] = "/tmp/riskbreaker-XXXXXX", campaign[64];
    struct progress *progress = shared_progress();
    if (progress == NULL || mkdtemp(folder) == NULL) {
        failures++;
        return;
    }
    struct game game = {rulesets, "tug", "left,right", campaign, "5", ",\"switches\":{\"wins_at\":12}"};
    snprintf(campaign, sizeof campaign, "%s/0.rbsave", folder);
    if (watch(&game, progress) != 0 || progress->answers < 5)
        failures++;
    int games = 1;
    for (int kills = 0, more = 0; more >= 0 && kills < 3; kills += more, games++) {
        snprintf(campaign, sizeof campaign, "%s/%d.rbsave", folder, games);
        more = killed_game(&game, progress);
        failures += more < 0;
    }
    /* This process opens its first host here: `fork` would not copy the threads of the host. */
    char *expected = NULL;
    for (int at = 0; at < games; at++) {
        snprintf(campaign, sizeof campaign, "%s/%d.rbsave", folder, at);
        char *found = decisions(rulesets, campaign);
        if (expected == NULL)
            expected = found;
        if (strcmp(expected, found) != 0) {
            fprintf(stderr, "game %d was killed, wanted\n%sgot\n%s", at, expected, found);
            failures++;
        }
        if (expected != found)
            free(found);
        unlink(campaign);
    }
    free(expected);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    /* Must run before this process opens a host, since `fork` does not copy the threads of the host. */
    expect_survival(argc > 1 ? argv[1] : NULL);
    Riskbreaker *host = riskbreaker_open(argc > 1 ? argv[1] : NULL);
    if (host == NULL) {
        fprintf(stderr, "the rulesets cannot be opened\n");
        return 1;
    }
    expect(host, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":1}}", "\"role\":\"operator\"");
    expect(host,
           "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"table.new\",\"params\":{\"table\":\"a\",\"ruleset\":\"tug\",\"seed\":5}}",
           "\"table\":\"a\"");
    expect(host,
           "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"hello\",\"params\":{\"table\":\"a\",\"role\":\"seat\",\"seat\":\"left\"}}",
           "\"viewer\":1");
    expect(host,
           "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"answer\",\"params\":"
           "{\"viewer\":1,\"question\":{\"action\":1,\"ordinal\":0},\"value\":\"pull\"}}",
           "\"method\":\"step\"");
    expect(host, "not JSON", "\"kind\":\"not_json\"");
    expect(host, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"table.close\",\"params\":{\"table\":\"a\"}}", "\"method\":\"bye\"");
    if (riskbreaker_call(NULL, "{}") != NULL || riskbreaker_call(host, NULL) != NULL) {
        fprintf(stderr, "a missing argument gives NULL\n");
        failures++;
    }
    expect(host, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"shutdown\"}", "\"result\":{}");
    for (int times = 0; times < 3; times++)
        expect(host, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}", "\"message\":\"riskbreaker has ended\"");
    riskbreaker_close(host);
    riskbreaker_close(NULL);
    riskbreaker_free(NULL);
    if (riskbreaker_open("/no/such/folder") != NULL) {
        fprintf(stderr, "a folder that is not there gives NULL\n");
        failures++;
    }
    puts(failures == 0 ? "ok" : "failed");
    return failures == 0 ? 0 : 1;
}
