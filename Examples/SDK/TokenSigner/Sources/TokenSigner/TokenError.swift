// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

public enum TokenError: Error {
    /// Not a token, or one of another algorithm.
    case form
    /// The signature is not one of the key.
    case signature
    /// The key does not support the operation.
    case unsupported
    /// An error of a key.
    case key(CFError?)
}
