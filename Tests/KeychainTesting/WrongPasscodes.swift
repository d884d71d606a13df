// SPDX-License-Identifier: Apache-2.0

public import Testing

/// Enters wrong passcodes until the count of a keychain has each of these numbers.
///
/// A keychain recognizes the last wrong passcode by 16 bits, so one of 65,536 others is taken for a
/// repetition of it, and is not counted: such a one is followed by another.
///
/// - Parameters:
///   - counted: the count; the last number also if the keychain has destroyed its passcode.
///   - enter: enters a passcode, and expects that it is refused.
public func enterWrongPasscodes(
    _ numbers: ClosedRange<Int>, sourceLocation: SourceLocation = #_sourceLocation, counted: () throws -> Int,
    enter: (String) throws -> Void
) throws {
    for number in numbers {
        for spelling in ["wrong", "as wrong", "wrong as well"] {
            try enter("\(spelling) \(number)")
            if try counted() >= number { break }
        }
        try #require(try counted() == number, sourceLocation: sourceLocation)
    }
}
