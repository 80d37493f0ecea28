/* Plays two turns through the C interface: `test_client RULESETS`. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "riskbreaker.h"

static int failures = 0;

/* Sends a message; what comes back has to contain a text. */
static void expect(Riskbreaker *host, const char *message, const char *wanted)
{
    char *said = riskbreaker_call(host, message);
    if (said == NULL || strstr(said, wanted) == NULL) {
        fprintf(stderr, "sent %s\nwanted %s\ngot %s\n", message, wanted, said == NULL ? "NULL" : said);
        failures++;
    }
    riskbreaker_free(said);
}

int main(int argc, char **argv)
{
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
