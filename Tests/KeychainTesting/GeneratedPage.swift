// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A page of tables that a test makes of the code. `make docs` runs these tests to get the pages.
public enum GeneratedPage {
    /// Writes the page into the directory that LATCHKEY_PAGES names. Without the variable, nothing is written.
    public static func write(_ text: String, as name: String) throws {
        guard let directory = ProcessInfo.processInfo.environment["LATCHKEY_PAGES"] else { return }
        try Data(text.utf8).write(to: URL(filePath: directory).appending(path: name))
    }
}
