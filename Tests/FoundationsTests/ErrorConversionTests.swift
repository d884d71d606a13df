// SPDX-License-Identifier: Apache-2.0

import LinuxSystem
import Testing

@Suite("Errors at the border of a module")
struct ErrorConversionTests {
    private struct Inner: Error { let code: Int }

    private enum Outer: Error, Equatable { case failed(Int) }

    private static func run(_ code: Int) throws(Outer) -> Int {
        try withErrors(as: { Outer.failed($0.code) }) { () throws(Inner) in
            guard code == 0 else { throw Inner(code: code) }
            return 7
        }
    }

    @Test("An error is thrown as one of the caller, and a result is returned")
    func conversion() throws {
        #expect(try Self.run(0) == 7)
        #expect(throws: Outer.failed(3)) { try Self.run(3) }
    }
}
