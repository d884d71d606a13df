// SPDX-License-Identifier: Apache-2.0

/// An object of Apple's shape that states when a key can be used, and the constraints of each use: `SecAccessControl`
/// of Security. Calls refuse other types.
public protocol AccessControlObject: AnyObject, Sendable {}

/// An object of Apple's shape for the authentication of a person: `LAContext` of LocalAuthentication. Calls refuse
/// other types.
public protocol AuthenticationContextObject: AnyObject, Sendable {}
