// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel

/// The bytes that are signed (RFC 9421, section 2.5).
struct SignatureBase {
    let text: String

    /// - Parameters:
    ///   - components: the covered components, in order.
    ///   - parameters: the parameters of the signature.
    /// - Throws: `errSecParam` if a component is not in the message, occurs twice, or has a value
    ///   that could be read as another line.
    init(
        _ components: [HTTPComponent], _ parameters: StructuredParameters, of message: HTTPMessageHead
    ) throws(KeychainError) {
        var lines: [String] = []
        var seen: Set<HTTPComponent> = []
        for component in components {
            guard seen.insert(component).inserted else { throw component.refusal("occurs twice") }
            let value = try message.value(of: component)
            // A header can be in another encoding than UTF-8, and a line break would start a line.
            guard value.utf8.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x09 }) else {
                throw KeychainError(
                    .param, component.refusal("has a value that is not ASCII").problem,
                    hint: "cover the field as wrapped (bs)")
            }
            lines.append("\(component.identifier): \(value)")
        }
        let covered = StructuredMember.innerList(components.map(\.item), parameters)
        text = (lines + ["\"@signature-params\": \(covered.text)"]).joined(separator: "\n")
    }

    var bytes: [UInt8] { Array(text.utf8) }
}

// MARK: Values of components

extension HTTPMessageHead {
    /// The value of a component (RFC 9421, sections 2.1 to 2.4).
    ///
    /// - Throws: `errSecParam` if the message does not have it.
    func value(of component: HTTPComponent) throws(KeychainError) -> String {
        try component.validate()
        guard !component.has("req") else {
            guard case .request(let request) = related else {
                throw component.refusal("is a part of an unknown request")
            }
            return try request.ownValue(of: component)
        }
        return try ownValue(of: component)
    }

    private func ownValue(of component: HTTPComponent) throws(KeychainError) -> String {
        guard component.name.hasPrefix("@") else { return try fieldValue(of: component) }
        switch start {
        case .response(let status):
            guard component.name == "@status" else { throw component.refusal("is not a part of a response") }
            return "\(status)"
        case .request(let method, let target):
            return try Self.requestValue(of: component, method, target)
        }
    }

    private static func requestValue(
        of component: HTTPComponent, _ method: String, _ target: HTTPTarget
    ) throws(KeychainError) -> String {
        let pathAndQuery = target.path + (target.query.map { "?" + $0 } ?? "")
        switch component.name {
        case "@method": return method
        case "@scheme": return target.scheme
        case "@authority": return target.authority
        case "@path": return target.path
        case "@query": return "?" + (target.query ?? "")
        case "@target-uri": return "\(target.scheme)://\(target.authority)\(pathAndQuery)"
        case "@request-target":
            // The target of CONNECT is the authority, and that of OPTIONS may be "*".
            guard method != "CONNECT", method != "OPTIONS" else {
                throw component.refusal("is not supported for the method \(method)")
            }
            return pathAndQuery
        case "@query-param": return try target.queryParameter(component.text(of: "name") ?? "")
        default: throw component.refusal("is not a part of a request")
        }
    }

    private func fieldValue(of component: HTTPComponent) throws(KeychainError) -> String {
        let values = values(of: component.name, inTrailers: component.has("tr"))
        guard let combined = combinedValue(of: component.name, inTrailers: component.has("tr")) else {
            throw component.refusal("is not in the message")
        }
        if component.has("bs") {
            return values.map { StructuredValue.bytes(Array($0.utf8)).text }.joined(separator: ", ")
        }
        if let key = component.text(of: "key") {
            let dictionary = try StructuredFieldParser.dictionary(combined, rejectsDuplicates: false)
            guard let member = dictionary[key] else { throw component.refusal("is not a member of the field") }
            return member.text
        }
        guard component.has("sf") else { return combined }
        return try Self.canonical(combined, component)
    }

    private static func canonical(_ value: String, _ component: HTTPComponent) throws(KeychainError) -> String {
        switch component.name {
        case _ where dictionaries.contains(component.name):
            return try StructuredFieldParser.dictionary(value, rejectsDuplicates: false).text
        case _ where lists.contains(component.name):
            return try StructuredFieldParser.list(value).map(\.text).joined(separator: ", ")
        case _ where items.contains(component.name): return try StructuredFieldParser.item(value).text
        default:
            throw component.refusal("cannot be covered as a structured field, because its type is not known here")
        }
    }

    /// The types of registered structured fields.
    private static let dictionaries: Set<String> = [
        "accept-signature", "cache-control", "content-digest", "priority", "repr-digest", "signature",
        "signature-input", "want-content-digest", "want-repr-digest",
    ]
    private static let lists: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-status", "client-cert-chain", "proxy-status", "vary",
    ]
    private static let items: Set<String> = ["age", "client-cert", "content-length", "content-type", "origin"]
}
