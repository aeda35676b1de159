"""What happens around a call: one file an extension. Config names a kind; `KINDS` finds it when first used."""

from __future__ import annotations

KINDS: dict[str, str] = {}

# The steps every call takes whatever is configured; the executor links them into each chain.
FIXED = {
    "permissions": "toolgate.extensions.permissions:PermissionsExtension",
    "validation": "toolgate.extensions.validation:ValidationExtension",
    "validated": "toolgate.extensions.validation:validated",
}
