// SPDX-License-Identifier: Apache-2.0

/// The content of a question about reading, beside the label of the first item and the program.
public struct ConsentSubject: Hashable, Sendable {
    /// The number of items.
    public var count: Int
    /// Whether the answer can be kept for good.
    public var canBeKept: Bool

    public init(count: Int, canBeKept: Bool) { (self.count, self.canBeKept) = (count, canBeKept) }

    // MARK: Words

    /// The other items, in a line; nil for one item.
    var others: String? {
        switch count {
        case ...1: nil
        case 2: "It also wants to read another item."
        default: "It also wants to read \(count - 1) other items."
        }
    }

    /// Why the program of the question is only a claim, in lines.
    static let claim = [
        "Only the path of the program is known, and any of your programs can run it:",
        "this guards against mistakes, and not against a program that means harm.",
    ]
    /// The cost of a refusal.
    static let cost = "After a refusal, a browser deletes the cookies that it has encrypted."
    /// How to allow more than these items.
    static let everyItem = "'latchkey consent allow PROGRAM' allows a program every item."
}
