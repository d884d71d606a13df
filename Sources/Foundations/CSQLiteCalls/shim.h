// SPDX-License-Identifier: Apache-2.0
//
// SQLite's C interface, with wrappers of variadic functions, because Swift cannot call those.

#ifndef CSQLITECALLS_SHIM_H
#define CSQLITECALLS_SHIM_H

#include <sqlite3.h>

/// SQL can no longer damage the file's structure (SQLITE_DBCONFIG_DEFENSIVE). SQLite's result code.
static inline int CSQLiteCalls_defend(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/// Text in double quotes is the name of a column, and never a string, so that a misspelled name is an error. SQLite's
/// result code.
static inline int CSQLiteCalls_forbid_quoted_strings(sqlite3 *connection) {
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
    return code != SQLITE_OK ? code : sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

#endif
