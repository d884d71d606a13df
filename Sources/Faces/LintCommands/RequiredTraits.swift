// SPDX-License-Identifier: Apache-2.0

#if !Tools || !Lint
    #error("latchkey-lint needs the traits Tools and Lint: swift build --enable-all-traits")
#endif
