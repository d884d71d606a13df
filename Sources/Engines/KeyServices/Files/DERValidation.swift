// SPDX-License-Identifier: Apache-2.0

/// Checks that the structure of a key is in DER (X.690, section 10): minimal definite lengths, primitive strings, and
/// numbers and Booleans in their only encoding. libcrypto also reads BER, with many encodings of one key.
enum DERValidation {
    /// - Parameter bytes: PKCS #8, plain or encrypted, PKCS #1, SEC 1 or SubjectPublicKeyInfo. The
    ///   key inside PKCS #8 and SubjectPublicKeyInfo is checked, too; the content of an encrypted
    ///   key cannot be.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        guard let element = next(&rest), rest.isEmpty, element.tag == 0x30 else { return false }
        return areValid(element.content, depth: 1) && isInnerKeyValid(element.content)
    }

    /// Keys have at most 5 levels.
    private static let maxDepth = 16

    private struct Element {
        let tag: UInt8
        let content: UnsafeRawBufferPointer
    }

    /// Removes and returns the element at the start; returns nil if it is not in DER.
    private static func next(_ rest: inout UnsafeRawBufferPointer) -> Element? {
        // Keys have no tags of several bytes.
        guard let tag = rest.first, tag & 0x1F != 0x1F, let content = DERNumbers.element(tag, &rest) else { return nil }
        return Element(tag: tag, content: content)
    }

    private static func areValid(_ content: UnsafeRawBufferPointer, depth: Int) -> Bool {
        guard depth < maxDepth else { return false }
        var rest = content
        while !rest.isEmpty {
            guard let element = next(&rest), isValid(element, depth: depth) else { return false }
        }
        return true
    }

    private static func isValid(_ element: Element, depth: Int) -> Bool {
        let (content, isConstructed, isUniversal) = (element.content, element.tag & 0x20 != 0, element.tag & 0xC0 == 0)
        guard !isConstructed else {
            // Only SEQUENCE and SET; a constructed string is BER.
            return (!isUniversal || element.tag == 0x30 || element.tag == 0x31) && areValid(content, depth: depth + 1)
        }
        guard isUniversal else { return true }
        switch element.tag {
        // End-of-contents occurs only after an indefinite length; SEQUENCE and SET are always
        // constructed.
        case 0x00, 0x10, 0x11: return false
        case 0x01: return content.count == 1 && (content[0] == 0 || content[0] == 0xFF)
        case 0x02: return isInteger(content)
        case 0x03: return content.first.map { $0 == 0 || $0 < 8 && content.count > 1 } ?? false
        case 0x05: return content.isEmpty
        default: return true
        }
    }

    private static func isInteger(_ content: UnsafeRawBufferPointer) -> Bool {
        guard let first = content.first else { return false }
        guard content.count > 1 else { return true }
        return !(first == 0 && content[1] < 0x80 || first == 0xFF && content[1] >= 0x80)
    }

    /// Checks the key inside PKCS #8, `INTEGER SEQUENCE OCTET STRING …`, and inside
    /// SubjectPublicKeyInfo, `SEQUENCE BIT STRING`, if its algorithm has structures as keys.
    private static func isInnerKeyValid(_ content: UnsafeRawBufferPointer) -> Bool {
        var rest = content
        guard let first = next(&rest), let second = next(&rest) else { return true }
        var inner: UnsafeRawBufferPointer?
        if first.tag == 0x02, hasStructuredKeys(second), let third = next(&rest), third.tag == 0x04 {
            inner = third.content
        }
        if hasStructuredKeys(first), second.tag == 0x03 {
            inner = UnsafeRawBufferPointer(rebasing: second.content.dropFirst())
        }
        guard var inner, inner.first == 0x30 else { return true }
        guard let key = next(&inner), inner.isEmpty else { return false }
        return areValid(key.content, depth: 1)
    }

    /// Whether an AlgorithmIdentifier is one of RSA (RFC 8017, appendix A) or ECDSA (RFC 5480). Other keys, such as
    /// those of X25519 (RFC 8410), are raw bytes, and can begin as a structure does.
    private static func hasStructuredKeys(_ algorithm: Element) -> Bool {
        var rest = algorithm.content
        guard algorithm.tag == 0x30, let identifier = next(&rest), identifier.tag == 0x06 else { return false }
        return identifier.content.starts(with: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01])
            || identifier.content.elementsEqual([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01])
    }
}
