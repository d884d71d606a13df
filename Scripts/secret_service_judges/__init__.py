# SPDX-License-Identifier: Apache-2.0
"""Foreign clients of the Secret Service as judges of Latchkey: Scripts/secret-service-judges."""
