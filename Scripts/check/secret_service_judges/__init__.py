# SPDX-License-Identifier: Apache-2.0
"""Clients of the Secret Service that others have written, against Latchkey and gnome-keyring."""
