// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// Returns the next bytes of a file, at most ``StoredFilePart/maxLength``; nil at its end.
public typealias StoredFileSource = () throws(KeychainError) -> SharedSecret?
