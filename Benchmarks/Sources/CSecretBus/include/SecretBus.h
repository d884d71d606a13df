// SPDX-License-Identifier: Apache-2.0

#ifndef SECRET_BUS_H
#define SECRET_BUS_H

#include <stddef.h>
#include <stdint.h>

/* A client of the Secret Service that does nothing but its calls, with libsystemd: one connection and one
   session without encryption. It is the same for every service that is measured.

   Functions return a negative errno after a failure; `secret_bus_problem` then says what failed. */
typedef struct secret_bus secret_bus;

/* Connects to the bus at an address. The result is released with `secret_bus_close`, also after a failure;
   NULL without memory. */
secret_bus *secret_bus_open(const char *address, int *status);
void secret_bus_close(secret_bus *client);

/* What failed last. */
const char *secret_bus_problem(const secret_bus *client);

/* Returns the process that provides the service; 0 if none does yet. */
int64_t secret_bus_provider(secret_bus *client);

/* Opens the session. */
int secret_bus_begin(secret_bus *client);

/* An item has three attributes: `application`, which all items share, `service` and `username`. */
typedef struct {
    const char *application;
    const char *service;
    const char *username;
} secret_bus_attributes;

/* Stores an item in the default collection. `secret` is a text. */
int secret_bus_store(secret_bus *client, const char *label, const secret_bus_attributes *attributes, const char *secret);

/* Deletes the item that was stored last. */
int secret_bus_delete_last(secret_bus *client);

/* Searches for the item with these attributes, of which NULL is left out, and gets the secrets of what was found.

   Returns the number of secrets; -EBADMSG if one of them is not `secret`. */
int64_t secret_bus_lookup(secret_bus *client, const secret_bus_attributes *attributes, const char *secret);

/* Searches for items. Returns how many unlocked ones were found, and were read. */
int64_t secret_bus_search(secret_bus *client, const secret_bus_attributes *attributes);

/* Calls a method of the bus itself: the least that a call costs. */
int secret_bus_ping(secret_bus *client);

#endif
