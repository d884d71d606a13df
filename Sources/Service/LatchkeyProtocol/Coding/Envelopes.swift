// SPDX-License-Identifier: Apache-2.0

extension WireRequest {
    /// Decodes the message of a frame; fields that this version does not define are rejected.
    package init(bytes: [UInt8]) throws(WireError) { self = try decoded(WireRequest.self, bytes) }

    package func bytes() throws(WireError) -> [UInt8] { try encoded(self) }
}

extension WireResponse {
    /// Decodes the message of a frame; fields that this version does not define are rejected.
    package init(bytes: [UInt8]) throws(WireError) { self = try decoded(WireResponse.self, bytes) }

    package func bytes() throws(WireError) -> [UInt8] { try encoded(self) }
}

extension WireAddition {
    /// Decodes an addition that is a field of bytes in another message.
    package init(bytes: [UInt8]) throws(WireError) { self = try decoded(WireAddition.self, bytes) }

    package func bytes() throws(WireError) -> [UInt8] { try encoded(self) }
}
