// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// What a status means, in words.
///
/// - Parameters:
///   - status: any status; one that is not known gives a text with its number.
///   - reserved: pass nil.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    let code = OSStatusCode(rawValue: status)
    return NSString(string: code.message ?? code.description)
}
