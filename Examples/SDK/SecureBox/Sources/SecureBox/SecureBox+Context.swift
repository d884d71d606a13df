// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

#if canImport(LocalAuthentication)
    import LocalAuthentication

    extension SecureBox {
        /// Whether values can be read with an authentication of the owner.
        public static let acceptsContext = true

        /// Returns the value, with the owner's authentication in the context.
        public func object(forKey key: String, context: LAContext) throws -> Data {
            var query = configuration.query(key: key)
            query[kSecUseAuthenticationContext as String] = context
            return try data(matching: query)
        }
    }
#else
    extension SecureBox {
        /// Whether values can be read with an authentication of the owner.
        public static let acceptsContext = false
    }
#endif
