// SPDX-License-Identifier: Apache-2.0

#include "SecretBus.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define NAME "org.freedesktop.secrets"
#define ROOT "/org/freedesktop/secrets"
#define DEFAULT_COLLECTION ROOT "/aliases/default"
#define SERVICE "org.freedesktop.Secret.Service"
#define COLLECTION "org.freedesktop.Secret.Collection"
#define ITEM "org.freedesktop.Secret.Item"
#define BUS "org.freedesktop.DBus"

// A store of gnome-keyring with very many items takes seconds. In microseconds.
#define TIMEOUT (300ull * 1000 * 1000)

struct secret_bus {
    sd_bus *bus;
    char *session;
    char *last;
    char problem[512];
};

__attribute__((format(printf, 3, 4))) static int failed(
    secret_bus *client, int status, const char *format, ...
) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(client->problem, sizeof client->problem, "%s: %s", what, strerror(-status));
    return status;
}

const char *secret_bus_problem(const secret_bus *client) {
    return client->problem;
}

// MARK: The connection

secret_bus *secret_bus_open(const char *address, int *status) {
    secret_bus *client = calloc(1, sizeof *client);
    if (client == NULL) {
        *status = -ENOMEM;
        return NULL;
    }
    *status = sd_bus_new(&client->bus);
    if (*status >= 0) *status = sd_bus_set_address(client->bus, address);
    if (*status >= 0) *status = sd_bus_set_bus_client(client->bus, 1);
    if (*status >= 0) *status = sd_bus_start(client->bus);
    if (*status < 0) failed(client, *status, "connect to %s", address);
    return client;
}

void secret_bus_close(secret_bus *client) {
    if (client == NULL) return;
    sd_bus_flush_close_unref(client->bus);
    free(client->session);
    free(client->last);
    free(client);
}

/* Sends a call, which is released, and waits for the answer. */
static int send_call(secret_bus *client, sd_bus_message *call, sd_bus_message **answer) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    int status = sd_bus_call(client->bus, call, TIMEOUT, &error, answer);
    if (status < 0) {
        const char *member = sd_bus_message_get_member(call);
        failed(
            client, status, "%s: %s: %s", member ? member : "a call", error.name ? error.name : "no answer",
            error.message ? error.message : "");
    }
    sd_bus_error_free(&error);
    sd_bus_message_unref(call);
    return status;
}

static int new_call(secret_bus *client, sd_bus_message **call, const char *path, const char *interface, const char *member) {
    int status = sd_bus_message_new_method_call(client->bus, call, NAME, path, interface, member);
    return status < 0 ? failed(client, status, "%s", member) : status;
}

/* Reports a message that could not be written or read. */
static int damaged(secret_bus *client, sd_bus_message *message, int status, const char *what) {
    sd_bus_message_unref(message);
    return failed(client, status < 0 ? status : -EBADMSG, "%s", what);
}

int64_t secret_bus_provider(secret_bus *client) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *answer = NULL;
    uint32_t process = 0;
    int status = sd_bus_call_method(
        client->bus, BUS, "/org/freedesktop/DBus", BUS, "GetConnectionUnixProcessID", &error, &answer, "s", NAME);
    int is_missing = status < 0 && sd_bus_error_has_name(&error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
    if (status >= 0) status = sd_bus_message_read(answer, "u", &process);
    if (status < 0 && !is_missing) failed(client, status, "the process of " NAME);
    sd_bus_error_free(&error);
    sd_bus_message_unref(answer);
    if (is_missing) return 0;
    return status < 0 ? status : (int64_t)process;
}

int secret_bus_ping(secret_bus *client) {
    sd_bus_message *answer = NULL;
    int status = sd_bus_call_method(
        client->bus, BUS, "/org/freedesktop/DBus", "org.freedesktop.DBus.Peer", "Ping", NULL, &answer, "");
    sd_bus_message_unref(answer);
    return status < 0 ? failed(client, status, "Ping") : 0;
}

int secret_bus_begin(secret_bus *client) {
    sd_bus_message *call = NULL, *answer = NULL;
    int status = new_call(client, &call, ROOT, SERVICE, "OpenSession");
    if (status < 0) return status;
    status = sd_bus_message_append(call, "sv", "plain", "s", "");
    if (status < 0) return damaged(client, call, status, "OpenSession");
    status = send_call(client, call, &answer);
    if (status < 0) return status;
    const char *path = NULL;
    status = sd_bus_message_skip(answer, "v");
    if (status >= 0) status = sd_bus_message_read(answer, "o", &path);
    if (status <= 0) return damaged(client, answer, status, "the answer to OpenSession");
    free(client->session);
    client->session = strdup(path);
    sd_bus_message_unref(answer);
    return client->session ? 0 : failed(client, -ENOMEM, "OpenSession");
}

// MARK: Items

/* Appends `a{ss}`. */
static int append_attributes(sd_bus_message *call, const secret_bus_attributes *attributes) {
    const char *pairs[][2] = {
        {"application", attributes->application},
        {"service", attributes->service},
        {"username", attributes->username},
    };
    int status = sd_bus_message_open_container(call, 'a', "{ss}");
    for (size_t i = 0; status >= 0 && i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i][1] != NULL) status = sd_bus_message_append(call, "{ss}", pairs[i][0], pairs[i][1]);
    }
    return status < 0 ? status : sd_bus_message_close_container(call);
}

/* Appends `a{sv}`. */
static int append_properties(sd_bus_message *call, const char *label, const secret_bus_attributes *attributes) {
    int status = sd_bus_message_open_container(call, 'a', "{sv}");
    if (status >= 0) status = sd_bus_message_append(call, "{sv}", ITEM ".Label", "s", label);
    if (status >= 0) status = sd_bus_message_open_container(call, 'e', "sv");
    if (status >= 0) status = sd_bus_message_append(call, "s", ITEM ".Attributes");
    if (status >= 0) status = sd_bus_message_open_container(call, 'v', "a{ss}");
    if (status >= 0) status = append_attributes(call, attributes);
    if (status >= 0) status = sd_bus_message_close_container(call);
    if (status >= 0) status = sd_bus_message_close_container(call);
    return status < 0 ? status : sd_bus_message_close_container(call);
}

/* Appends `(oayays)`. */
static int append_secret(sd_bus_message *call, const char *session, const char *secret) {
    int status = sd_bus_message_open_container(call, 'r', "oayays");
    if (status >= 0) status = sd_bus_message_append(call, "o", session);
    if (status >= 0) status = sd_bus_message_append_array(call, 'y', NULL, 0);
    if (status >= 0) status = sd_bus_message_append_array(call, 'y', secret, strlen(secret));
    if (status >= 0) status = sd_bus_message_append(call, "s", "text/plain");
    return status < 0 ? status : sd_bus_message_close_container(call);
}

int secret_bus_store(secret_bus *client, const char *label, const secret_bus_attributes *attributes, const char *secret) {
    sd_bus_message *call = NULL, *answer = NULL;
    int status = new_call(client, &call, DEFAULT_COLLECTION, COLLECTION, "CreateItem");
    if (status < 0) return status;
    status = append_properties(call, label, attributes);
    if (status >= 0) status = append_secret(call, client->session, secret);
    if (status >= 0) status = sd_bus_message_append(call, "b", 1);
    if (status < 0) return damaged(client, call, status, "CreateItem");
    status = send_call(client, call, &answer);
    if (status < 0) return status;
    const char *item = NULL, *prompt = NULL;
    status = sd_bus_message_read(answer, "oo", &item, &prompt);
    // A prompt would mean that the collection is locked.
    if (status <= 0 || strcmp(item, "/") == 0) return damaged(client, answer, status, "the answer to CreateItem");
    free(client->last);
    client->last = strdup(item);
    sd_bus_message_unref(answer);
    return client->last ? 0 : failed(client, -ENOMEM, "CreateItem");
}

int secret_bus_delete_last(secret_bus *client) {
    if (client->last == NULL) return failed(client, -ENOENT, "no item was stored");
    sd_bus_message *call = NULL, *answer = NULL;
    int status = new_call(client, &call, client->last, ITEM, "Delete");
    if (status < 0) return status;
    status = send_call(client, call, &answer);
    sd_bus_message_unref(answer);
    return status < 0 ? status : 0;
}

// MARK: Searching

/* Searches for items; the answer is at the begin of the unlocked ones. */
static int search_call(secret_bus *client, const secret_bus_attributes *attributes, sd_bus_message **answer) {
    sd_bus_message *call = NULL;
    int status = new_call(client, &call, ROOT, SERVICE, "SearchItems");
    if (status < 0) return status;
    status = append_attributes(call, attributes);
    if (status < 0) return damaged(client, call, status, "SearchItems");
    status = send_call(client, call, answer);
    if (status < 0) return status;
    status = sd_bus_message_enter_container(*answer, 'a', "o");
    return status <= 0 ? damaged(client, *answer, status, "the answer to SearchItems") : 0;
}

int64_t secret_bus_search(secret_bus *client, const secret_bus_attributes *attributes) {
    sd_bus_message *answer = NULL;
    int status = search_call(client, attributes, &answer);
    if (status < 0) return status;
    int64_t count = 0;
    const char *path = NULL;
    while ((status = sd_bus_message_read_basic(answer, 'o', &path)) > 0) count++;
    if (status < 0) return damaged(client, answer, status, "the answer to SearchItems");
    sd_bus_message_unref(answer);
    return count;
}

/* Counts the secrets of an answer to GetSecrets, and compares them. */
static int64_t count_secrets(sd_bus_message *answer, const char *expected) {
    int64_t count = 0;
    int status = sd_bus_message_enter_container(answer, 'a', "{o(oayays)}");
    if (status <= 0) return -EBADMSG;
    while ((status = sd_bus_message_enter_container(answer, 'e', "o(oayays)")) > 0) {
        const char *path = NULL, *session = NULL, *type = NULL;
        const void *parameters = NULL, *value = NULL;
        size_t parameters_length = 0, length = 0;
        status = sd_bus_message_read_basic(answer, 'o', &path);
        if (status > 0) status = sd_bus_message_enter_container(answer, 'r', "oayays");
        if (status > 0) status = sd_bus_message_read_basic(answer, 'o', &session);
        if (status > 0) status = sd_bus_message_read_array(answer, 'y', &parameters, &parameters_length);
        if (status > 0) status = sd_bus_message_read_array(answer, 'y', &value, &length);
        if (status > 0) status = sd_bus_message_read_basic(answer, 's', &type);
        if (status <= 0 || sd_bus_message_exit_container(answer) < 0 || sd_bus_message_exit_container(answer) < 0)
            return -EBADMSG;
        if (length != strlen(expected) || memcmp(value, expected, length) != 0) return -EBADMSG;
        count++;
    }
    return status < 0 ? -EBADMSG : count;
}

int64_t secret_bus_lookup(secret_bus *client, const secret_bus_attributes *attributes, const char *secret) {
    sd_bus_message *found = NULL, *call = NULL, *answer = NULL;
    int status = search_call(client, attributes, &found);
    if (status < 0) return status;
    status = new_call(client, &call, ROOT, SERVICE, "GetSecrets");
    if (status < 0) return damaged(client, found, status, "GetSecrets");
    status = sd_bus_message_open_container(call, 'a', "o");
    const char *path = NULL;
    int more = 0;
    while (status >= 0 && (more = sd_bus_message_read_basic(found, 'o', &path)) > 0)
        status = sd_bus_message_append_basic(call, 'o', path);
    if (status >= 0 && more >= 0) status = sd_bus_message_close_container(call);
    if (status >= 0 && more >= 0) status = sd_bus_message_append(call, "o", client->session);
    sd_bus_message_unref(found);
    if (status < 0 || more < 0) return damaged(client, call, status, "GetSecrets");
    status = send_call(client, call, &answer);
    if (status < 0) return status;
    int64_t count = count_secrets(answer, secret);
    if (count < 0) return damaged(client, answer, (int)count, "the answer to GetSecrets");
    sd_bus_message_unref(answer);
    return count;
}
