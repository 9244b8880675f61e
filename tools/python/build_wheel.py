"""`pip install ./tools/python`: builds the module with CMake and packs it. Needs no other package and no network.
`pip install -v` shows what it compiles.

DMA_BUILD_DIR names a build folder to use and to keep, below the source tree unless it begins with /; without it a temporary one
is made.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


def version() -> str:
    """As the top CMakeLists.txt has it: the one place."""
    found = re.search(r"project\(dma VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())
    assert found, "CMakeLists.txt names no version"
    return found[1]


def compiled(build: Path) -> Path:
    """The module for the Python that asks."""
    if not (build / "CMakeCache.txt").exists():  # otherwise the build sees to it that it is up to date
        options = ["-DDMA_BUILD_TESTS=OFF", "-DDMA_BUILD_TOOLS=OFF", "-DDMA_BUILD_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}"]
        subprocess.run(["cmake", "-S", SOURCE, "-B", build, *options], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "_dma", "--parallel", str(os.cpu_count() or 1)], check=True)
    return build / "python/dma" / f"_dma{sysconfig.get_config_var('EXT_SUFFIX')}"


def metadata() -> str:
    return (
        f"Metadata-Version: 2.1\nName: dma\nVersion: {version()}\nRequires-Python: >=3.9\nRequires-Dist: numpy\n"
        "Provides-Extra: estimators\nRequires-Dist: scikit-learn; extra == 'estimators'\n"
    )


def tag() -> str:
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    """The requirements, which pip asks for first; without them it makes a whole build."""
    info = Path(metadata_directory) / f"dma-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata())
    return info.name


def build_wheel(
    wheel_directory: str, config_settings: Optional[dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    info = f"dma-{version()}.dist-info"
    name = f"dma-{version()}-{tag()}.whl"
    records = []
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(
        Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED
    ) as wheel:

        def add(path: str, content: bytes) -> None:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(content)}")
            wheel.writestr(path, content)

        module = compiled(SOURCE / (os.environ.get("DMA_BUILD_DIR") or temporary))
        for file in [module, module.with_name("_dma.pyi")]:
            add(f"dma/{file.name}", file.read_bytes())
        for file in sorted((HERE / "dma").iterdir()):
            if file.suffix in (".py", ".typed"):
                add(f"dma/{file.name}", file.read_bytes())
        add(f"{info}/METADATA", metadata().encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: dma\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode())
        wheel.writestr(f"{info}/RECORD", "\n".join([*records, f"{info}/RECORD,,", ""]))
    return name


def build_sdist(sdist_directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    raise RuntimeError("dma is installed from its source tree: pip install ./tools/python")
