// SPDX-License-Identifier: Apache-2.0

/// A result that a check did not expect.
struct WrongResult: Error, CustomStringConvertible {
    let description: String
}

/// Throws unless both values are equal.
func expect<Value: Equatable>(_ subject: String, _ found: Value, _ expected: Value) throws {
    guard found == expected else {
        throw WrongResult(description: "\(subject): expected \(expected), found \(found)")
    }
}

/// Returns the error of a call that must fail.
func failure(_ subject: String, of call: () throws -> Void) throws -> Error {
    do {
        try call()
    } catch {
        return error
    }
    throw WrongResult(description: "\(subject): expected an error, found none")
}
