// SPDX-License-Identifier: Apache-2.0

public import Keybag

/// The keys of a call for the constraints of the items that it reads, and the binding of the items that it stores.
public struct ConstraintUse: Sendable {
    /// nil if nothing is satisfied.
    public var keys: ConstraintKeys?
    /// nil for the binding of the keys.
    public var binding: ConstraintBinding?

    public init(_ keys: ConstraintKeys? = nil, binding: ConstraintBinding? = nil) {
        self.keys = keys
        self.binding = binding
    }

    /// Neither reads the secrets of constrained items nor stores constrained items.
    public static let none = ConstraintUse()

    /// The binding of items that are stored now.
    var currentBinding: ConstraintBinding {
        var current = keys?.binding ?? ConstraintBinding()
        if let set = binding?.enrolledSet { current.enrolledSet = set }
        if let password = binding?.applicationPassword { current.applicationPassword = password }
        return current
    }
}
