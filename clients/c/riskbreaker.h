/* Made from src/lib.rs by ./make-header. */

#ifndef RISKBREAKER_H
#define RISKBREAKER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 A host of games. The caller is its operator.
 */
typedef struct Riskbreaker Riskbreaker;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Opens a host.

 `rulesets` is the folder of the rulesets; NULL means `./rulesets`, or else the built-in ones. Returns NULL if the folder
 cannot be read, or if its name is not UTF-8.

 # Safety

 `rulesets` is NULL or ends with a zero byte.
 */
struct Riskbreaker *riskbreaker_open(const char *rulesets);

/*
 Sends a message and waits until the host has handled it.

 Returns all messages of the host since the last call, one a line, the answer last. The text is empty for a notification
 without further messages. Free it with `riskbreaker_free`. Returns NULL if an argument is NULL. Only one thread at a time
 may use a host.

 After `shutdown`, and after a failure of the host, each message is answered at once by an error of the kind `ended`, with
 the text "riskbreaker has ended" and without an id. Then close the host and open another one: it continues a campaign
 file by `table.load`, and `hello` takes the last `seq`. See `bot.c`.

 # Safety

 `host` comes from `riskbreaker_open` and was not closed; `message` ends with a zero byte.
 */
char *riskbreaker_call(struct Riskbreaker *host,
                       const char *message);

/*
 Frees a text.

 # Safety

 `text` is NULL or comes from `riskbreaker_call`, and was not freed before.
 */
void riskbreaker_free(char *text);

/*
 Closes a host with all its games.

 # Safety

 `host` is NULL or comes from `riskbreaker_open`, and was not closed before.
 */
void riskbreaker_close(struct Riskbreaker *host);

#ifdef __cplusplus
} // extern "C"
#endif // __cplusplus

#endif /* RISKBREAKER_H */
