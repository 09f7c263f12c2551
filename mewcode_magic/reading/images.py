"""Images as the API takes them: PNG, JPEG, GIF or WebP, whole, and no larger than a model looks at.

An image that cannot be decoded would be refused with the whole conversation, so each is looked through first:
by Pillow where that is installed, else as far as its header and its end tell.
"""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from typing import Any

from mewcode_magic.errors import StorageError
from mewcode_magic.messages import Block

__all__ = ["IMAGE_BYTES", "LONG_SIDE", "image_block", "image_type", "pixels"]

LONG_SIDE = 1_568
"""Pixels of the longer side; larger images are scaled down by the API all the same."""
SENT_BYTES = 3_700_000
"""Bytes of an image; as base64 just below the API's limit of 5 MB."""
IMAGE_BYTES = 100_000_000
"""Bytes of an image file that is read at all."""
MOST_PIXELS = 200_000_000
"""Pixels of an image that is decoded; a small file may unfold into more than memory holds."""

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class _Image:
    data: bytes
    kind: str
    width: int
    height: int

    @property
    def fits(self) -> bool:
        return max(self.width, self.height) <= LONG_SIDE and len(self.data) <= SENT_BYTES


def image_type(head: bytes) -> str:
    """Return the media type of an image that can be sent and begins so, else ""."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return ""


def image_block(data: bytes, name: str) -> tuple[Block, str]:
    """Return an image as a block, scaled down if it is large, and what it is in words.

    Raises:
        StorageError: it is damaged, or too large to be sent and cannot be scaled.
    """
    kind = image_type(data[:16])
    size = pixels(data)
    if size is None or 0 in size:
        raise StorageError(f"{name} is no image that can be read; its header is damaged")
    image = _Image(data, kind, *size)
    if image.width * image.height > MOST_PIXELS:
        raise StorageError(f"{name} has {_dimensions(image)}, too many to decode; scale it down first")
    sent = _looked_through(image, name)
    label = f"{name}: {kind.removeprefix('image/').upper()}, {_dimensions(image)}"
    if sent is not image:
        label += f", sent at {sent.width} x {sent.height}"
    encoded = base64.b64encode(sent.data).decode("ascii")
    source = {"type": "base64", "media_type": sent.kind, "data": encoded}
    return {"type": "image", "source": source}, label


def _dimensions(image: _Image) -> str:
    return f"{image.width} x {image.height} pixels"


def _looked_through(image: _Image, name: str) -> _Image:
    """Return the image as it can be sent."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        if not _has_end(image):
            raise StorageError(f"{name} is damaged: its end is missing") from None
        if not image.fits:
            raise StorageError(
                f"{name} has {_dimensions(image)} and {len(image.data):,} bytes; to have it scaled to "
                f"{LONG_SIDE} pixels, install Pillow: pip install pillow"
            ) from None
        return image
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of metadata that matter to nobody here
            with Image.open(io.BytesIO(image.data)) as picture:
                picture.load()
                return image if image.fits else _scaled(ImageOps.exif_transpose(picture))
    except Exception as error:  # decoders raise whatever broken data leads them to
        raise StorageError(f"{name} is damaged: it cannot be decoded") from error


def _scaled(picture: Any) -> _Image:
    """Return a Pillow image as one that fits: as PNG, or as JPEG where that would be too large."""
    is_clear = "A" in picture.getbands() or "transparency" in picture.info
    plain = picture.convert("RGBA" if is_clear else "RGB")
    plain.thumbnail((LONG_SIDE, LONG_SIDE))
    for kind, options in (("PNG", {}), ("JPEG", {"quality": 85}), ("JPEG", {"quality": 50})):
        file = io.BytesIO()
        (plain.convert("RGB") if kind == "JPEG" else plain).save(file, kind, **options)
        if file.tell() <= SENT_BYTES:
            break
    return _Image(file.getvalue(), f"image/{kind.lower()}", *plain.size)


def _has_end(image: _Image) -> bool:
    """Whether the image's last bytes are those that end its format."""
    data = image.data
    match image.kind:
        case "image/png":
            return b"IEND" in data[-16:]
        case "image/jpeg":
            return b"\xff\xd9" in data[-1024:]
        case "image/gif":
            return b"\x3b" in data[-16:]
        case _:
            return len(data) >= int.from_bytes(data[4:8], "little") + 8


def pixels(data: bytes) -> tuple[int, int] | None:
    """Return the width and height that an image's header states, or None if it states none."""
    match image_type(data[:16]):
        case "image/png" if len(data) >= 24 and data[12:16] == b"IHDR":  # noqa: PLR2004 - the header's length
            return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
        case "image/gif" if len(data) >= 10:  # noqa: PLR2004
            return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
        case "image/webp":
            return _webp_pixels(data)
        case "image/jpeg":
            return _jpeg_pixels(data)
    return None


def _webp_pixels(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30:  # noqa: PLR2004
        return None
    match data[12:16]:
        case b"VP8 ":
            return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
        case b"VP8L":
            bits = _little(data[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return _little(data[24:27]) + 1, _little(data[27:30]) + 1
    return None


def _jpeg_pixels(data: bytes) -> tuple[int, int] | None:
    """Walk the segments up to the one that begins the picture."""
    position = 2
    while position + 9 <= len(data) and data[position] == 0xFF:  # noqa: PLR2004 - a marker
        marker = data[position + 1]
        if marker in _JPEG_SIZES:
            height, width = data[position + 5 : position + 7], data[position + 7 : position + 9]
            return int.from_bytes(width, "big"), int.from_bytes(height, "big")
        if marker == 0xFF:  # noqa: PLR2004 - padding
            position += 1
        else:
            position += 2 + int.from_bytes(data[position + 2 : position + 4], "big")
    return None


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
