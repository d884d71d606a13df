// SPDX-License-Identifier: Apache-2.0

/// An object of Apple's shape that says when a key can be used, and what each use requires of the
/// person: `SecAccessControl` of Security. Calls refuse other types.
public protocol AccessControlObject: AnyObject, Sendable {}

/// An object of Apple's shape in which a person proves who it is: `LAContext` of
/// LocalAuthentication. Calls refuse other types.
public protocol AuthenticationContextObject: AnyObject, Sendable {}
