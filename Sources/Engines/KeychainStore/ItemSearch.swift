// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import SecretMemory

/// Which rows a call is about, after the caller's rights have been worked in: all conditions hold at once.
public struct ItemSearch: Sendable {
    public var itemClass: ItemClass
    public var groups: Groups
    /// Attributes that must have these values; indexed ones are searched by token, the others compared after opening.
    public var attributes: [ItemAttribute: AttributeValue]
    public var synchronizable: SynchronizableScope
    public var identifier: ItemIdentifier?
    public var includesTombstones: Bool
    /// Only items that this executable added.
    public var addedBy: String?
    public var match: MatchOptions

    /// The access groups that may be seen.
    public enum Groups: Sendable {
        case only([AccessGroup])
        /// Every group of this grade.
        case all(AccessGroup.Grade)
    }

    public init(
        _ itemClass: ItemClass, groups: Groups, attributes: [ItemAttribute: AttributeValue] = [:],
        synchronizable: SynchronizableScope = .local, identifier: ItemIdentifier? = nil,
        includesTombstones: Bool = false,
        addedBy: String? = nil, match: MatchOptions = MatchOptions()
    ) {
        self.itemClass = itemClass
        self.groups = groups
        self.attributes = attributes
        self.synchronizable = synchronizable
        self.identifier = identifier
        self.includesTombstones = includesTombstones
        self.addedBy = addedBy
        self.match = match
    }
}

// MARK: The query by tokens

extension ItemSearch {
    /// A parameter of the statement that finds the candidates.
    enum Parameter {
        case number(Int64)
        case bytes([UInt8])
    }

    /// What the statement looks like; searches of one form differ only in what is bound to it.
    var form: CandidateQuery {
        CandidateQuery(
            itemClass: itemClass, hasIdentifier: identifier != nil, hasProtection: protection != nil,
            tokenAttributes: tokenAttributes,
            groupCount: groupCount,
            synchronizable: synchronizable, includesTombstones: includesTombstones)
    }

    /// What is bound to the statement of ``form``, in its order.
    func parameters(_ tokens: SearchTokens) -> [Parameter] {
        var parameters: [Parameter] = [.number(Int64(itemClass.number))]
        if let identifier { parameters.append(.bytes(identifier.bytes)) }
        if let protection { parameters.append(.number(Int64(protection.number))) }
        for attribute in tokenAttributes {
            guard let value = attributes[attribute] else { continue }
            parameters.append(.bytes(tokens.cachedToken(attribute, value, of: itemClass)))
        }
        if case .only(let groups) = groups { parameters += groups.map { .bytes(tokens.group($0)) } }
        return parameters
    }

    /// Whether the tokens and clear columns say all there is to say, so that a row can be told without being opened.
    var isDecidedByTokens: Bool {
        guard case .only = groups, addedBy == nil, match == MatchOptions() else { return false }
        return attributes.count == tokenAttributes.count + (protection == nil ? 0 : 1)
    }

    private var protection: ProtectionClass? {
        guard case .string(let code)? = attributes[.accessible], !match.ignoresCase else { return nil }
        return ProtectionClass(rawValue: code)
    }

    private var groupCount: Int? {
        guard case .only(let groups) = groups else { return nil }
        return groups.count
    }

    private var tokenAttributes: [ItemAttribute] {
        DatabaseSchema.tokenColumns(of: itemClass).map(\.attribute).filter { attribute in
            guard let value = attributes[attribute] else { return false }
            // Without regard to case, text has no single token.
            return !(match.ignoresCase && value.text != nil)
        }
    }
}

// MARK: The decision

extension ItemSearch {
    /// Whether an opened row is one that is looked for.
    func matches(_ record: ItemRecord) -> Bool {
        switch groups {
        case .only(let groups): guard groups.contains(record.accessGroup) else { return false }
        case .all(let grade): guard record.accessGroup.grade == grade else { return false }
        }
        if let addedBy, record.addedBy != addedBy { return false }
        for (attribute, wanted) in attributes {
            let found = record[attribute] ?? ItemSchema.of(itemClass)[attribute]?.initial
            guard let found, equal(found, wanted) else { return false }
        }
        if let items = match.items, !items.contains(record.persistentReference) { return false }
        if let host = match.hostOrSubdomain {
            guard let server = record[.server]?.text, server == host || server.hasSuffix(".\(host)") else {
                return false
            }
        }
        if let text = match.subjectContains {
            let places = [record[.subject], record[.label]].compactMap { $0?.canonicalBytes }
            guard places.contains(where: { contains($0, Array(text.utf8)) }) else { return false }
        }
        return true
    }

    /// Whether the decision also needs the secret half, where a certificate's bytes lie.
    var needsSecrets: Bool { match.emailAddress != nil }

    /// Whether the opened data is what is looked for. An address lies in a certificate as plain ASCII: a GeneralName of type rfc822Name
    /// and the subject's emailAddress are both IA5String (RFC 5280, §4.2.1.6).
    func matches(_ secrets: ItemSecrets) -> Bool {
        guard let address = match.emailAddress else { return true }
        let wanted = Array(address.lowercased().utf8)
        return secrets.data?.withUnsafeBytes { bytes in
            bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }.firstRange(of: wanted) != nil
        } ?? false
    }

    private func equal(_ found: AttributeValue, _ wanted: AttributeValue) -> Bool {
        if match.ignoresCase, let one = found.text, let other = wanted.text {
            return one.lowercased() == other.lowercased()
        }
        return found.matches(wanted)
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard match.ignoresCase else { return bytes.firstRange(of: part) != nil }
        return String(decoding: bytes, as: UTF8.self).lowercased().contains(
            String(decoding: part, as: UTF8.self).lowercased())
    }
}

extension [UInt8] {
    fileprivate func firstRange(of part: [UInt8]) -> Range<Int>? {
        guard !part.isEmpty else { return 0..<0 }
        guard count >= part.count else { return nil }
        return (0...(count - part.count)).first { self[$0..<$0 + part.count].elementsEqual(part) }.map {
            $0..<$0 + part.count
        }
    }
}
