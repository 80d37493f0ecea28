"""Makes a wheel from a compiled program: `python3 make_wheel.py PROGRAM FOLDER [--platform TAG]`.

The wheel has the client and the program, which `pip` puts in `PATH`. Its platform tag is read from the program: on Linux it
names the oldest glibc that has the symbols it needs. `--platform` sets the tag of a program for another system, for example
`macosx_11_0_arm64` or `win_amd64`. `--glibc` prints that oldest glibc, or `static`, and makes no wheel. Needs Python 3.11.

Equal content gives equal bytes; `SOURCE_DATE_EPOCH` sets the time of the files.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import struct
import sys
import time
import tomllib
import zipfile
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Set, Tuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MACHINES = {62: "x86_64", 183: "aarch64"}
# The libraries of the system that a manylinux wheel may use (PEP 600). The C++ runtime should be inside the program.
ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libstdc++.so.6", "libgcc_s.so.1"}


class Elf:
    """Reads the requirements of an ELF file: its machine, its libraries and the versions of their symbols."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
            raise ValueError("it is no 64-bit ELF file")
        self.data = data
        self.machine = MACHINES.get(struct.unpack_from("<H", data, 18)[0], "unknown")
        (table,) = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        # of each section: type, flags, address, offset, size, link, info
        self.sections = [struct.unpack_from("<4xI8xQQQII", data, table + size * number) for number in range(count)]

    def _section(self, kind: int) -> Iterator[Tuple[int, int, int]]:
        """Yields offset, size and offset of the linked string table of each section of a type."""
        for type_, _, offset, size, link, _ in self.sections:
            if type_ == kind:
                yield offset, size, self.sections[link][2]

    def _text(self, offset: int) -> str:
        return self.data[offset : self.data.index(b"\0", offset)].decode()

    def libraries(self) -> Set[str]:
        """Returns the shared libraries that the file names."""
        found = set()
        for offset, size, names in self._section(6):  # SHT_DYNAMIC
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<QQ", self.data, at)
                if tag == 1:  # DT_NEEDED
                    found.add(self._text(names + value))
        return found

    def versions(self) -> List[str]:
        """Returns the symbol versions that the file needs, such as `GLIBC_2.34`."""
        found = []
        for offset, _, names in self._section(0x6FFFFFFE):  # SHT_GNU_verneed
            while True:
                _, count, _, first, step = struct.unpack_from("<HHIII", self.data, offset)
                at = offset + first
                for _ in range(count):
                    _, _, _, name, following = struct.unpack_from("<IHHII", self.data, at)
                    found.append(self._text(names + name))
                    at += following
                if step == 0:
                    break
                offset += step
        return found

    def glibc(self) -> Optional[Tuple[int, int]]:
        """Returns the oldest glibc that has all symbols; `None` for a program without shared libraries."""
        known = [version[6:].split(".") for version in self.versions() if version.startswith("GLIBC_") and version[6].isdigit()]
        return max(((int(parts[0]), int(parts[1])) for parts in known), default=None)


def linux_tag(elf: Elf) -> str:
    """Returns the platform tag of a program for Linux. Raises `ValueError` if it needs a library that is not allowed."""
    more = {name for name in elf.libraries() if name not in ALLOWED and not name.startswith("ld-linux")}
    if more:
        raise ValueError(f"it needs {', '.join(sorted(more))}, which not every system has")
    glibc = elf.glibc()
    if glibc is None:  # a static program runs with any C library
        return f"manylinux_2_17_{elf.machine}.manylinux2014_{elf.machine}.musllinux_1_1_{elf.machine}"
    legacy = f".manylinux2014_{elf.machine}" if glibc <= (2, 17) else ""
    major, minor = max(glibc, (2, 17))
    return f"manylinux_{major}_{minor}_{elf.machine}{legacy}"


def metadata(project: Dict[str, object], version: str) -> str:
    """Returns the file METADATA: the fields of `[project]`, and the README."""
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}"]
    keywords, classifiers = project["keywords"], project["classifiers"]
    assert isinstance(keywords, list) and isinstance(classifiers, list)
    lines += [f"Keywords: {','.join(keywords)}", f"License-Expression: {project['license']}"]
    lines += [f"License-File: {name}" for name in ("LICENSE-APACHE", "LICENSE-MIT")]
    lines += [f"Classifier: {one}" for one in classifiers]
    lines.append(f"Requires-Python: {project['requires-python']}")
    for extra, requirements in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {one} ; extra == '{extra}'" for one in requirements]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()


def make_wheel(program: Path, folder: Path, platform: str) -> Path:
    """Writes the wheel into a folder and returns its path."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name = f"riskbreaker-{version}"
    tags = "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))
    wheel = f"Wheel-Version: 1.0\nGenerator: riskbreaker make_wheel\nRoot-Is-Purelib: false\n{tags}"
    script = "riskbreaker.exe" if platform.startswith("win") else "riskbreaker"

    files: Dict[str, Tuple[bytes, int]] = {}
    for path in sorted((HERE / "riskbreaker").iterdir()):
        if path.suffix in (".py", ".typed") or path.name == "py.typed":
            files[f"riskbreaker/{path.name}"] = (path.read_bytes(), 0o644)
    files[f"{name}.data/scripts/{script}"] = (program.read_bytes(), 0o755)
    files[f"{name}.dist-info/METADATA"] = (metadata(project, version).encode(), 0o644)
    files[f"{name}.dist-info/WHEEL"] = (wheel.encode(), 0o644)
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        files[f"{name}.dist-info/licenses/{licence}"] = ((ROOT / licence).read_bytes(), 0o644)
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, (data, _) in files.items())
    files[f"{name}.dist-info/RECORD"] = (f"{record}{name}.dist-info/RECORD,,\n".encode(), 0o644)

    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 315532800)), 315532800))[:6]
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}-py3-none-{platform}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path_, (data, mode) in files.items():
            info = zipfile.ZipInfo(path_, moment)
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return target


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("."))
    parser.add_argument("--platform")
    parser.add_argument("--glibc", action="store_true")
    args = parser.parse_args()
    try:
        if args.glibc:
            glibc = Elf(args.program.read_bytes()).glibc()
            print("static" if glibc is None else "{}.{}".format(*glibc))
            return
        print(make_wheel(args.program, args.folder, args.platform or linux_tag(Elf(args.program.read_bytes()))))
    except (OSError, ValueError) as error:
        sys.exit(f"{args.program}: {error}")


if __name__ == "__main__":
    main()
