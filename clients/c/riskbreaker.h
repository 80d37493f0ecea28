/* Made from src/lib.rs by ./make-header. */

#ifndef RISKBREAKER_H
#define RISKBREAKER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 A host of games, with the caller as its operator.
 */
typedef struct Riskbreaker Riskbreaker;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Opens a host.

 `rulesets` is the folder of the rulesets; NULL stands for `./rulesets`, or else those that are built in. Gives NULL if the
 folder cannot be read, or is no UTF-8.

 # Safety

 `rulesets` is NULL or ends with a zero byte.
 */
struct Riskbreaker *riskbreaker_open(const char *rulesets);

/*
 Sends a message and waits until it is carried out.

 Gives everything that the host says since the last call, one message a line, the answer last; an empty text for a message
 without an id that nobody is told of. The text has to be given back with `riskbreaker_free`. Gives NULL if an argument is
 NULL. A host is used by one thread at a time.

 After `shutdown`, and after a failure of the host, each message is answered at once by an error of the kind `ended`, with
 the text "riskbreaker has ended" and without an id. Close the host then and open another one: it goes on with a campaign
 file by `table.load`, and `hello` takes the last `seq`. See `bot.c`.

 # Safety

 `host` comes from `riskbreaker_open` and was not closed; `message` ends with a zero byte.
 */
char *riskbreaker_call(struct Riskbreaker *host,
                       const char *message);

/*
 Gives a text back.

 # Safety

 `text` is NULL or comes from `riskbreaker_call`, and was not given back before.
 */
void riskbreaker_free(char *text);

/*
 Ends a host with all its games.

 # Safety

 `host` is NULL or comes from `riskbreaker_open`, and was not closed before.
 */
void riskbreaker_close(struct Riskbreaker *host);

#ifdef __cplusplus
} // extern "C"
#endif // __cplusplus

#endif /* RISKBREAKER_H */
