// SPDX-License-Identifier: Apache-2.0

/// The programs that the person is asked about before they read a secret by the Secret Service.
///
/// It guards against mistakes and isolates nothing: only the path of a program's executable is known, and every program
/// of the user can run another one.
public enum ConsentMode: String, CaseIterable, Hashable, Sendable {
    /// None, as long as the person has not chosen another mode.
    case never
    /// Each program, for items that it has not made itself.
    case creator
    /// Each program, for every item.
    case always
}
