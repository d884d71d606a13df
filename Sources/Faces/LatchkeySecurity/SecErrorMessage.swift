// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// Returns a description of a status.
///
/// - Parameters:
///   - status: any status; for an unknown one the description contains its number.
///   - reserved: pass nil.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    let code = OSStatusCode(rawValue: status)
    return NSString(string: code.message ?? code.description)
}
