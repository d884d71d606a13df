// SPDX-License-Identifier: Apache-2.0

internal import SwiftParser
internal import SwiftSyntax

extension ExprSyntax {
    /// The last part of a name: `set` of `UserDefaults.standard.set`; empty for other expressions.
    var lastName: String {
        if let member = self.as(MemberAccessExprSyntax.self) { return member.declName.baseName.text }
        return self.as(DeclReferenceExprSyntax.self)?.baseName.text ?? ""
    }

    /// The expression before the last part of a member or a call.
    var base: ExprSyntax? {
        if let member = self.as(MemberAccessExprSyntax.self) { return member.base?.unwrapped }
        return self.as(FunctionCallExprSyntax.self)?.calledExpression.unwrapped
    }

    /// The expression without `!` and `?` behind it.
    private var unwrapped: ExprSyntax {
        if let forced = self.as(ForceUnwrapExprSyntax.self) { return forced.expression }
        return self.as(OptionalChainingExprSyntax.self)?.expression ?? self
    }

    /// The text of a string literal without interpolations.
    var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }

    private var integer: String? {
        self.as(IntegerLiteralExprSyntax.self)?.literal.text.replacing("_", with: "").lowercased()
    }

    /// The bytes of an array of small integer literals, also as the argument of `Data` or `Array`.
    var byteLiteral: [UInt8]? {
        if let call = self.as(FunctionCallExprSyntax.self), call.isConversion(to: ["Data", "Array"]) {
            return call.arguments.first?.expression.byteLiteral
        }
        guard let array = self.as(ArrayExprSyntax.self), !array.elements.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for element in array.elements {
            guard let digits = element.expression.integer else { return nil }
            guard let byte = digits.hasPrefix("0x") ? UInt8(digits.dropFirst(2), radix: 16) : UInt8(digits) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }

    /// The text of `Array("…".utf8)`, `Data("…".utf8)` and `"…".data(using: .utf8)`.
    var convertedLiteral: String? {
        if unwrapped != self { return unwrapped.convertedLiteral }
        guard let call = self.as(FunctionCallExprSyntax.self) else { return nil }
        if call.calledExpression.lastName == "data" { return call.calledExpression.base?.literalText }
        guard call.isConversion(to: ["Data", "Array", "SymmetricKey"]) || call.isByteArray else { return nil }
        guard let argument = call.arguments.first?.expression else { return nil }
        return argument.lastName == "utf8" ? argument.base?.literalText : argument.convertedLiteral
    }

    /// Whether the value is the same in every run of the program.
    var isConstant: Bool {
        if byteLiteral?.isEmpty == false || literalText?.isEmpty == false || convertedLiteral != nil { return true }
        guard let call = self.as(FunctionCallExprSyntax.self), let argument = call.arguments.first else { return false }
        return argument.label?.text == "repeating" && argument.expression.integer != nil
            || argument.label?.text == "count" && call.calledExpression.lastName == "Data"
    }
}

extension FunctionCallExprSyntax {
    fileprivate func isConversion(to types: Set<String>) -> Bool {
        arguments.count == 1 && types.contains(calledExpression.lastName)
    }

    /// Whether it is `[UInt8](…)`.
    fileprivate var isByteArray: Bool {
        guard let elements = calledExpression.as(ArrayExprSyntax.self)?.elements, elements.count == 1 else {
            return false
        }
        return elements.first?.expression.lastName == "UInt8"
    }

    func argument(_ label: String) -> ExprSyntax? { arguments.first { $0.label?.text == label }?.expression }
}
