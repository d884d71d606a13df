// SPDX-License-Identifier: Apache-2.0

// The keys, and the types of the errors.
@_exported public import Latchkey
