// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel

/// The parameters of a signature (RFC 9421, section 2.3).
public struct HTTPSignatureParameters: Hashable, Sendable {
    /// When the signature was made, in seconds since 1970.
    public var created: Int64?
    /// When the signature expires, in seconds since 1970.
    public var expires: Int64?
    /// The name of the key. The verifier finds the key by it.
    public var keyIdentifier: String?
    /// A value that is used once.
    public var nonce: String?
    /// The application of the signature.
    public var tag: String?
    /// Whether the signature states its algorithm. The key determines it in any case.
    public var namesAlgorithm = false

    /// Parameters for a signature at this time.
    ///
    /// - Parameters:
    ///   - keyIdentifier: the name of the key. The verifier finds the key by it.
    ///   - lifetime: the seconds until the signature expires; nil for no such parameter.
    ///   - nonce: a value that is used once.
    ///   - tag: the application of the signature.
    ///   - created: in seconds since 1970; by default, now.
    public init(
        keyIdentifier: String?, lifetime: Int64? = nil, nonce: String? = nil, tag: String? = nil,
        created: Int64? = Int64(Date().timeIntervalSince1970)
    ) {
        self.created = created
        self.keyIdentifier = keyIdentifier
        self.nonce = nonce
        self.tag = tag
        expires = lifetime.flatMap { lifetime in
            created.map { created in
                let (sum, isTooLarge) = created.addingReportingOverflow(lifetime)
                return isTooLarge ? .max : sum
            }
        }
    }

    /// The parameters in the order of RFC 9421's examples.
    func structured(_ algorithm: HTTPSignatureAlgorithm) throws(KeychainError) -> StructuredParameters {
        var parameters = StructuredParameters()
        for (key, time) in [("created", created), ("expires", expires)] {
            guard let time else { continue }
            guard 0..<Self.maxTime ~= time else { throw .parameter("the time \(key) is out of range") }
            parameters.set(key, .integer(time))
        }
        let algorithm = namesAlgorithm ? algorithm.rawValue : nil
        for (key, text) in [("keyid", keyIdentifier), ("nonce", nonce), ("alg", algorithm), ("tag", tag)] {
            guard let text else { continue }
            guard text.utf8.count <= Self.maxLength, text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
                throw .parameter("\(key) must be printable ASCII of at most \(Self.maxLength) bytes")
            }
            parameters.set(key, .string(text))
        }
        return parameters
    }

    /// The parameters of a received signature.
    init(_ parameters: StructuredParameters) throws(KeychainError) {
        created = try Self.integer(parameters, "created")
        expires = try Self.integer(parameters, "expires")
        keyIdentifier = try Self.string(parameters, "keyid")
        nonce = try Self.string(parameters, "nonce")
        tag = try Self.string(parameters, "tag")
        namesAlgorithm = parameters["alg"] != nil
    }

    private static func integer(_ parameters: StructuredParameters, _ key: String) throws(KeychainError) -> Int64? {
        guard let value = parameters[key] else { return nil }
        guard case .integer(let number) = value, number >= 0 else {
            throw .parameter("the parameter \(key) must be a number of seconds, found \(value.text)")
        }
        return number
    }

    static func string(_ parameters: StructuredParameters, _ key: String) throws(KeychainError) -> String? {
        guard let value = parameters[key] else { return nil }
        guard case .string(let text) = value, text.utf8.count <= maxLength else {
            throw .parameter("the parameter \(key) must be a string of at most \(maxLength) bytes")
        }
        return text
    }

    private static let maxLength = 1024
    /// The first number with 16 digits. A structured field cannot hold it.
    private static let maxTime: Int64 = 1_000_000_000_000_000
}

/// A signature of an HTTP message, as its two fields.
public struct HTTPSignature: Sendable {
    /// The name of the signature in the message.
    public let label: String
    /// The signature's bytes.
    public let bytes: Data
    /// The signed text, to compare with the text that the other party signed.
    public let base: String
    /// `Signature-Input` and `Signature`, to add to the message.
    public let fields: [HTTPField]
}

extension HTTPMessageHead {
    /// Signs the message (RFC 9421, section 3.1).
    ///
    /// ```swift
    /// let key = try Keychain.default.key(P256SigningKey.self, tag: "com.example.requests")
    /// let digest = ContentDigest.field(for: body)
    /// let request = try HTTPMessageHead.request(
    ///     "POST", url: "https://example.com/orders", fields: [digest])
    /// let signature = try request.signature(
    ///     with: .p256(key), covering: [.method, .targetURI, .field("content-digest")],
    ///     HTTPSignatureParameters(keyIdentifier: "orders-1"))
    /// let fields = [digest] + signature.fields
    /// ```
    ///
    /// - Parameters:
    ///   - key: the key that signs; it decides the algorithm.
    ///   - components: the components that the signature covers, in this order.
    ///   - parameters: the times, the nonce and the names that the signature carries.
    ///   - label: the name of the signature: lowercase letters, digits and `_-.*`.
    /// - Returns: the signature and the two fields to add to the message.
    /// - Throws: `errSecParam` if the message lacks a component or already has this label.
    public func signature(
        with key: HTTPSigningKey, covering components: [HTTPComponent], _ parameters: HTTPSignatureParameters,
        label: String = "sig1"
    ) throws(KeychainError) -> HTTPSignature {
        for name in ["signature-input", "signature"] {
            guard let value = combinedValue(of: name) else { continue }
            guard try StructuredFieldParser.dictionary(value, rejectsDuplicates: true)[label] == nil else {
                throw .parameter("the message has a signature with the label \(label)")
            }
        }
        let structured = try parameters.structured(key.algorithm)
        let base = try SignatureBase(components, structured, of: self)
        let bytes = try key.signature(of: base.bytes)
        let input = StructuredMember.innerList(components.map(\.item), structured)
        let value = StructuredValue.bytes(bytes).text
        let fields = [
            HTTPField("Signature-Input", "\(label)=\(input.text)"), HTTPField("Signature", "\(label)=\(value)"),
        ]
        // The label is valid if a reader finds it again.
        let parsed = try StructuredFieldParser.dictionary("\(label)=\(value)", rejectsDuplicates: true)
        guard parsed[label] == .item(StructuredItem(value: .bytes(bytes))) else {
            throw .parameter("the label must consist of lowercase letters, digits and _-.*")
        }
        return HTTPSignature(label: label, bytes: Data(bytes), base: base.text, fields: fields)
    }
}
