// SPDX-License-Identifier: Apache-2.0

// Apple's module includes Foundation and Security, because its declarations use both. Code that says
// `import LocalAuthentication` relies on it (apple-compat, decision 3).
@_exported public import LatchkeySecurity
