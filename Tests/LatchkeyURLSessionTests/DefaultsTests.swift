// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// In processes of their own, because the shared session belongs to the whole process.
@Suite("URLSession.shared")
struct DefaultsTests {
    /// Returns the code of the error of a request over plain http to a port without a listener.
    private static func code(_ session: String) throws -> String {
        let home = try TemporaryDirectory()
        let outcome = try Executable.run(
            "TransportWorker", ["install", session, "http://localhost:9/"], home: home.path)
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    @Test("install() makes URLSession.shared obey App Transport Security")
    func shared() throws {
        #expect(try Self.code("shared") == "-1022")
    }

    @Test("install() takes the settings of the program")
    func settings() throws {
        let code = try Self.code("settings")
        #expect(code == "-1004", "\(code)")
    }

    @Test("A default session is Foundation's also after install(), as the documentation says")
    func others() throws {
        let code = try Self.code("default")
        #expect(Int(code).map { $0 < 0 && $0 != -1022 } ?? false, "\(code)")
    }
}
