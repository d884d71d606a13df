// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// A signature of a received message: parsed, but not verified.
struct ReceivedSignature {
    let label: String
    let components: [HTTPComponent]
    /// The parameters in their order at signing.
    let structured: StructuredParameters
    let parameters: HTTPSignatureParameters
    let bytes: [UInt8]

    /// The most components of a signature.
    static let maxComponents = 64

    /// Finds the signature with this label, or the only one with this tag.
    static func find(
        in message: HTTPMessageHead, label: String?, tag: String?
    ) throws(KeychainError) -> ReceivedSignature {
        guard let inputText = message.combinedValue(of: "signature-input"),
            let signatureText = message.combinedValue(of: "signature")
        else { throw KeychainError(.itemNotFound, "the message has no signature") }
        // A label that occurs twice could be one signature for us and another for a proxy.
        let inputs = try StructuredFieldParser.dictionary(inputText, rejectsDuplicates: true)
        let signatures = try StructuredFieldParser.dictionary(signatureText, rejectsDuplicates: true)
        var found: [ReceivedSignature] = []
        for entry in inputs.all where label == nil || entry.key == label {
            guard let value = signatures[entry.key] else {
                throw .parameter("the field Signature has no member \(entry.key)")
            }
            // Of several signatures, those with other tags are for other verifiers.
            if label == nil, let tag, !Self.has(tag, entry.value) { continue }
            found.append(try ReceivedSignature(entry.key, entry.value, value))
        }
        guard let first = found.first else { throw KeychainError(.itemNotFound, "the message has no such signature") }
        guard found.count == 1 else {
            throw KeychainError(
                .param, "the message has \(found.count) signatures", hint: "name the label of the signature")
        }
        guard tag == nil || first.parameters.tag == tag else {
            throw KeychainError(.itemNotFound, "the signature does not have the required tag")
        }
        return first
    }

    private static func has(_ tag: String, _ member: StructuredMember) -> Bool {
        guard case .innerList(_, let parameters) = member else { return false }
        return parameters["tag"] == .string(tag)
    }

    private init(_ label: String, _ input: StructuredMember, _ signature: StructuredMember) throws(KeychainError) {
        guard case .innerList(let items, let parameters) = input else {
            throw .parameter("the input of a signature must be a list of components")
        }
        guard items.count <= Self.maxComponents else {
            throw .parameter("a signature covers at most \(Self.maxComponents) components, found \(items.count)")
        }
        guard case .item(let item) = signature, case .bytes(let bytes) = item.value else {
            throw .parameter("a signature must be a byte sequence")
        }
        var components: [HTTPComponent] = []
        for item in items { components.append(try HTTPComponent(item)) }
        self.label = label
        self.components = components
        self.bytes = bytes
        structured = parameters
        self.parameters = try HTTPSignatureParameters(parameters)
    }

    /// Checks that the signature names this algorithm, or none. The key determines the algorithm: a
    /// message that could choose it could have its public key used as a shared secret.
    func requireAlgorithm(_ algorithm: HTTPSignatureAlgorithm) throws(KeychainError) {
        guard let name = try HTTPSignatureParameters.string(structured, "alg") else { return }
        guard try HTTPSignatureAlgorithm(named: name) == algorithm else {
            throw KeychainError(
                .keyUsageIncorrect,
                "the signature names the algorithm \(name), but its key is for \(algorithm.rawValue)")
        }
    }
}
