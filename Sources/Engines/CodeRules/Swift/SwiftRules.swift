// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretScan
internal import SwiftParser
internal import SwiftSyntax

/// The rules for Swift, on its syntax tree.
enum SwiftRules {
    /// Code can be as deep as it is long, and so is the recursion of the parser.
    private static let stackLength = 512 << 20

    static func findings(in text: String) throws(CodeProblem) -> [CodeFinding] {
        let findings = BackgroundThread.result(stackLength: stackLength) {
            let tree = Parser.parse(source: text)
            let visitor = SwiftVisitor(tree)
            visitor.walk(tree)
            return visitor.findings
        }
        guard let findings else { throw CodeProblem(line: nil, reason: "no memory to parse its code") }
        return findings
    }
}

private final class SwiftVisitor: SyntaxVisitor {
    private(set) var findings: [CodeFinding] = []
    private let converter: SourceLocationConverter
    private let facts: SourceFacts
    /// Whether each of the functions around is about a server: a challenge, or its trust object.
    private var isAboutServer: [Bool] = []

    init(_ tree: SourceFileSyntax) {
        converter = SourceLocationConverter(fileName: "", tree: tree)
        facts = SourceFacts(tree)
        super.init(viewMode: .sourceAccurate)
    }

    private func report(_ rule: CodeRule, at node: some SyntaxProtocol) {
        let place = converter.location(for: node.positionAfterSkippingLeadingTrivia)
        findings.append(CodeFinding(rule: rule, line: place.line, column: place.column))
    }

    private func isSecretName(_ text: String) -> Bool { SecretName(text.utf8)?.strength == .strong }

    // MARK: Names

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        switch node.baseName.text {
        case "kSecAttrAccessibleAlways", "kSecAttrAccessibleAlwaysThisDeviceOnly": report(.alwaysAccessible, at: node)
        case "kCCOptionECBMode": report(.weakMode, at: node)
        case "rsaEncryptionPKCS1": report(.oldPadding, at: node)
        case "SecPolicyCreateBasicX509" where isAboutServer.last ?? facts.has("serverTrust"):
            report(.policyWithoutName, at: node)
        default: break
        }
        return .visitChildren
    }

    // MARK: Calls

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let callee = node.calledExpression
        switch callee.lastName {
        case "set", "setValue":
            if Self.isPreferences(callee.base), let key = node.argument("forKey"),
                isSecretName(key.literalText ?? key.lastName)
            {
                report(.preferences, at: node)
            }
        case "TextField": if isSecretField(node) { report(.visibleField, at: node) }
        case "fileExists", "canOpenURL", "isReadableFile", "fopen", "stat", "access":
            if facts.hasJailbreakFile(in: node.arguments) { report(.jailbreakFiles, at: node) }
        case "CC_MD5", "CC_SHA1": if facts.hasPassword(in: node.arguments) { report(.weakPasswordHash, at: node) }
        case "hash":
            if ["MD5", "SHA1"].contains(callee.base?.lastName), facts.hasPassword(in: node.arguments) {
                report(.weakPasswordHash, at: node)
            }
        default: break
        }
        return .visitChildren
    }

    /// Whether it is `UserDefaults.standard`, `UserDefaults(suiteName: …)` or a variable named like them.
    private static func isPreferences(_ expression: ExprSyntax?) -> Bool {
        var next = expression
        for _ in 0..<3 {
            guard let name = next?.lastName.lowercased() else { return false }
            if name.hasSuffix("defaults") { return true }
            next = next?.base
        }
        return false
    }

    private func isSecretField(_ node: FunctionCallExprSyntax) -> Bool {
        if let title = node.arguments.first?.expression.literalText, isSecretName(title) { return true }
        let binding = node.argument("text")?.lastName ?? ""
        return isSecretName(binding.replacing("$", with: ""))
    }

    // MARK: Statements

    private static let itemCalls: Set = ["SecItemAdd", "SecItemUpdate", "SecItemDelete", "SecItemCopyMatching"]

    override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
        // The start of the next statement that adds an item.
        var addition: Int?
        for item in node.reversed() {
            if Self.ignoresStatus(item), !Self.isResult(item, of: node) { report(.ignoredStatus, at: item) }
            guard !Self.isFunctionOrType(item) else { continue }
            let start = item.position.utf8Offset
            if facts.has("SecItemDelete", in: item), let addition,
                facts.first("SecItemUpdate", from: start).map({ $0 > addition }) ?? true
            {
                report(.deleteThenAdd, at: item)
            }
            if facts.has("SecItemAdd", in: item) { addition = facts.first("SecItemAdd", from: start) }
        }
        return .visitChildren
    }

    private static func isFunctionOrType(_ item: CodeBlockItemSyntax) -> Bool {
        if case .decl(let declaration) = item.item { return !declaration.is(VariableDeclSyntax.self) }
        return false
    }

    /// Whether a call of a SecItem function, or `_ =` and such a call, is the whole statement.
    private static func ignoresStatus(_ item: CodeBlockItemSyntax) -> Bool {
        guard case .expr(var expression) = item.item else { return false }
        if let sequence = expression.as(SequenceExprSyntax.self),
            sequence.elements.first?.is(DiscardAssignmentExprSyntax.self) == true, let value = sequence.elements.last
        {
            expression = value
        }
        return itemCalls.contains(expression.as(FunctionCallExprSyntax.self)?.calledExpression.lastName ?? "")
    }

    /// Whether the only statement of a function or closure is its result.
    private static func isResult(_ item: CodeBlockItemSyntax, of list: CodeBlockItemListSyntax) -> Bool {
        guard list.count == 1, case .expr(let expression) = item.item, expression.is(FunctionCallExprSyntax.self) else {
            return false
        }
        if list.parent?.is(ClosureExprSyntax.self) == true || list.parent?.is(AccessorBlockSyntax.self) == true {
            return true
        }
        return list.parent?.parent?.as(FunctionDeclSyntax.self)?.signature.returnClause != nil
    }

    // MARK: Functions

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        isAboutServer.append(namesServer(node))
        if facts.has("URLAuthenticationChallenge", in: node.signature), let body = node.body {
            checkChallenge(body, node)
        }
        return .visitChildren
    }

    override func visitPost(_ node: FunctionDeclSyntax) { isAboutServer.removeLast() }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        isAboutServer.append(namesServer(node))
        return .visitChildren
    }

    override func visitPost(_ node: InitializerDeclSyntax) { isAboutServer.removeLast() }

    private func namesServer(_ node: some SyntaxProtocol) -> Bool {
        facts.has(oneOf: ["serverTrust", "URLAuthenticationChallenge", "host", "hostname"], in: node)
    }

    private static let evaluations = [
        "SecTrustEvaluate", "SecTrustEvaluateWithError", "SecTrustEvaluateAsync", "SecTrustEvaluateAsyncWithError",
        "evaluate",
    ]
    private static let certificateReads = [
        "SecTrustGetCertificateAtIndex", "SecTrustCopyCertificateChain", "SecCertificateCopyData", "SecTrustCopyKey",
    ]

    private func checkChallenge(_ body: CodeBlockSyntax, _ node: FunctionDeclSyntax) {
        guard facts.has("useCredential", in: body), facts.has("serverTrust", in: body),
            !facts.has(oneOf: Self.evaluations, in: body)
        else { return }
        report(facts.has(oneOf: Self.certificateReads, in: body) ? .comparedPins : .anyServer, at: node)
    }

    // MARK: Variables

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        for binding in node.bindings {
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else { continue }
            if let value = binding.initializer?.value { check(value, of: name, at: node) }
            if Self.isTextField(binding.typeAnnotation?.type), isSecretName(name.replacing("Field", with: "")),
                !facts.secureFields.contains(name)
            {
                report(.visibleField, at: node)
            }
        }
        if node.attributes.contains(where: { isSecretPreference($0.as(AttributeSyntax.self)) }) {
            report(.preferences, at: node)
        }
        return .visitChildren
    }

    private static func isTextField(_ type: TypeSyntax?) -> Bool {
        let wrapped =
            type?.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType
            ?? type?.as(OptionalTypeSyntax.self)?.wrappedType ?? type
        return wrapped?.as(IdentifierTypeSyntax.self)?.name.text == "UITextField"
    }

    /// Whether it is `@AppStorage("…")` with the name of a secret.
    private func isSecretPreference(_ attribute: AttributeSyntax?) -> Bool {
        guard let attribute, attribute.attributeName.as(IdentifierTypeSyntax.self)?.name.text == "AppStorage",
            case .argumentList(let arguments) = attribute.arguments
        else { return false }
        return isSecretName(arguments.first?.expression.literalText ?? "")
    }

    private func check(_ value: ExprSyntax, of name: String, at node: VariableDeclSyntax) {
        let words = SecretName.words(of: name.utf8)
        if words.contains(where: ["iv", "nonce", "salt"].contains), value.isConstant { report(.weakMode, at: node) }
        let isKey = isSecretName(name) || words.last == "key"
        if let bytes = value.byteLiteral, bytes.count >= 8, isKey || SpelledText.isSpelled(by: bytes) {
            report(.literalKey, at: node)
        }
        if isKey, let literal = value.convertedLiteral, literal.utf8.count >= 8 { report(.literalKey, at: node) }
    }

    // MARK: Types

    private static let covers = [
        "applicationWillResignActive", "sceneWillResignActive", "applicationDidEnterBackground",
        "sceneDidEnterBackground", "willResignActiveNotification",
    ]

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        let bases = node.inheritanceClause?.inheritedTypes.compactMap {
            $0.type.as(IdentifierTypeSyntax.self)?.name.text
        }
        if bases?.contains(where: ["UIApplicationDelegate", "UIWindowSceneDelegate"].contains) == true,
            !facts.has(oneOf: Self.covers)
        {
            report(.noCover, at: node)
        }
        return .visitChildren
    }
}
