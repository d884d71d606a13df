// SPDX-License-Identifier: Apache-2.0

public import Keybag

/// What a call brings to the constraints of items: the keys that satisfy those of the items that it
/// reads, and what the items that it stores are bound to.
public struct ConstraintUse: Sendable {
    /// nil if nothing is satisfied.
    public var keys: ConstraintKeys?
    /// nil for what the keys are bound to.
    public var binding: ConstraintBinding?

    public init(_ keys: ConstraintKeys? = nil, binding: ConstraintBinding? = nil) {
        self.keys = keys
        self.binding = binding
    }

    /// Neither reads the secrets of constrained items nor stores constrained items.
    public static let none = ConstraintUse()

    /// What items are bound to that are stored now.
    var currentBinding: ConstraintBinding {
        var current = keys?.binding ?? ConstraintBinding()
        if let set = binding?.enrolledSet { current.enrolledSet = set }
        if let password = binding?.applicationPassword { current.applicationPassword = password }
        return current
    }
}
