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

/* Checks that the bot makes the same decisions and plays to the end of the game, whether it is killed or not. */
static void expect_survival(const char *rulesets)
{
    char folder[] = "/tmp/riskbreaker-XXXXXX", whole[64], killed[64];
    struct progress *progress = shared_progress();
    if (progress == NULL || mkdtemp(folder) == NULL) {
        failures++;
        return;
    }
    snprintf(whole, sizeof whole, "%s/whole.rbsave", folder);
    snprintf(killed, sizeof killed, "%s/killed.rbsave", folder);
    struct game game = {rulesets, "tug", "left,right", whole, "5", ",\"switches\":{\"wins_at\":12}"};
    int kills = 0, status = watch(&game, progress);
    unsigned long answers = progress->answers, at = 1, last = 0;
    memset(progress, 0, sizeof *progress);
    game.campaign = killed;
    fflush(stdout);
    pid_t former = 0, watching = fork();
    if (watching == 0)
        _exit(watch(&game, progress));
    while (status == 0 && waitpid(watching, &status, WNOHANG) == 0) {
        /* Kills the bot after every second answer, each time after a different delay. */
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
    char *expected = decisions(rulesets, whole), *found = decisions(rulesets, killed);
    if (status != 0 || kills < 3 || answers < 5 || strcmp(expected, found) != 0) {
        fprintf(stderr, "%d kills, status %d, wanted\n%sgot\n%s", kills, status, expected, found);
        failures++;
    }
    free(expected);
    free(found);
    unlink(whole);
    unlink(killed);
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
