// SPDX-License-Identifier: Apache-2.0

import FoundationPromises
import Glibc

exit(await FoundationPromises.run(Array(CommandLine.arguments.dropFirst())))
