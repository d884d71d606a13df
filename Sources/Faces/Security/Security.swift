// SPDX-License-Identifier: Apache-2.0

/// Apple's module name for a package that cannot pass compiler flags. Every other target of the same build may see it
/// through `canImport(Security)`, depending on the order of the build; Documentation/ModuleNames.md states the
/// consequences.
@_exported public import LatchkeySecurity
