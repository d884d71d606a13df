// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Silences the linker's warnings of CFoundationCalls in the tests. Nothing to call.
