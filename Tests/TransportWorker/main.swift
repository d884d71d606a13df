// SPDX-License-Identifier: Apache-2.0

import Glibc

// A program as an app has it: its settings are those of the Info.plist beside its executable.
exit(await Worker.run(Array(CommandLine.arguments.dropFirst())))
