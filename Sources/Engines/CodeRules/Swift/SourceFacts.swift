// SPDX-License-Identifier: Apache-2.0

internal import SecretScan
internal import SwiftSyntax

/// Where names and texts are in a file. Rules ask it about whole functions and files; the cost of an answer depends
/// neither on the length nor on the depth of the code.
final class SourceFacts: SyntaxVisitor {
    /// The offsets of each name, ascending. Comments have no names.
    private var names: [String: [Int]] = [:]
    /// The offsets of names of passwords.
    private var passwords: [Int] = []
    /// The offsets of texts that name files of jailbroken devices.
    private var jailbreakFiles: [Int] = []
    /// The names of the fields whose `isSecureTextEntry` is set to true.
    private(set) var secureFields: Set<String> = []

    init(_ tree: SourceFileSyntax) {
        super.init(viewMode: .sourceAccurate)
        walk(tree)
    }

    // MARK: Questions

    func has(_ name: String, in node: (some SyntaxProtocol)? = SourceFileSyntax?.none) -> Bool {
        Self.isAny(of: names[name] ?? [], in: node)
    }

    func has(oneOf names: [String], in node: (some SyntaxProtocol)? = SourceFileSyntax?.none) -> Bool {
        names.contains { has($0, in: node) }
    }

    func hasPassword(in node: some SyntaxProtocol) -> Bool { Self.isAny(of: passwords, in: node) }

    func hasJailbreakFile(in node: some SyntaxProtocol) -> Bool { Self.isAny(of: jailbreakFiles, in: node) }

    /// The first offset of a name at or after an offset.
    func first(_ name: String, from offset: Int) -> Int? { Self.first(of: names[name] ?? [], from: offset) }

    private static func isAny(of offsets: [Int], in node: (some SyntaxProtocol)?) -> Bool {
        guard let node else { return !offsets.isEmpty }
        return first(of: offsets, from: node.position.utf8Offset).map { $0 < node.endPosition.utf8Offset } ?? false
    }

    private static func first(of offsets: [Int], from offset: Int) -> Int? {
        var (low, high) = (offsets.startIndex, offsets.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if offsets[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return low < offsets.endIndex ? offsets[low] : nil
    }

    // MARK: Collection

    override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
        let offset = token.positionAfterSkippingLeadingTrivia.utf8Offset
        switch token.tokenKind {
        case .identifier(let name):
            names[name, default: []].append(offset)
            if SecretName(name.utf8)?.isPassword == true { passwords.append(offset) }
        case .stringSegment(let text):
            if JailbreakFile.isNamed(in: text) { jailbreakFiles.append(offset) }
        default: break
        }
        return .skipChildren
    }

    override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
        let parts = Array(node.elements.prefix(3))
        if parts.count == 3, parts[1].is(AssignmentExprSyntax.self), parts[0].lastName == "isSecureTextEntry",
            parts[2].as(BooleanLiteralExprSyntax.self)?.literal.text == "true", let field = parts[0].base?.lastName
        {
            secureFields.insert(field)
        }
        return .visitChildren
    }
}
