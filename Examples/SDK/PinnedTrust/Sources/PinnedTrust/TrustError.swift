// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

public enum TrustError: Error {
    /// Not a certificate.
    case form
    /// The evaluation failed.
    case untrusted(CFError?)
    /// The chain is trusted, and the key of the server is not pinned.
    case unknownKey
    /// A call failed.
    case status(OSStatus)
}
